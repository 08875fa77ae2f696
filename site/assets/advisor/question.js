// A question as the address of the page, and as a command line.

import { items } from "./advisor.js";
import { usualDevice } from "./environment.js";
import { quoted } from "./formats.js";

const SHORT = { tf: "tensorflow", pytorch: "torch" };

// The question that an address asks; null where it asks none. Without a framework the first is meant, as in the form.
export function fromAddress(tables, search) {
  const given = new URLSearchParams(search);
  const [first] = tables.choices;
  const found = { choice: first.name, version: first.versions[0], added: [], device: "", gpu: "", scope: "run", facts: {}, inference: false, ops: "" };
  let asks = false;
  let named = 0;
  for (const [name, value] of given) {
    const choice = tables.choices.find((each) => each.name === (SHORT[name] ?? name));
    if (choice && named++) found.added.push([choice.name, value]);
    else if (choice) Object.assign(found, { choice: choice.name, version: value });
    else if (name === "container" && named++) found.added.push(parted(value, ":"));
    else if (name === "container") [found.choice, found.version] = parted(value, ":");
    else if (name === "device") found.device = value;
    else if (name === "gpu") found.gpu = value;
    else if (name === "scope") found.scope = value;
    else if (name === "ops") found.ops = value;
    else if (name === "fact") found.facts[parted(value, "=")[0]] = parted(value, "=")[1];
    else if (name === "inference") found.inference = true;
    else continue;
    asks = true;
  }
  found.device ||= usualDevice(tables, found);
  return asks ? found : null;
}

function parted(text, sign) {
  const place = text.lastIndexOf(sign);
  return place < 0 ? [text, ""] : [text.slice(0, place), text.slice(place + 1)];
}

export function toAddress(tables, question) {
  const choice = tables.choices.find((each) => each.name === question.choice);
  const found = new URLSearchParams();
  if (choice.option === "--container") found.set("container", `${choice.name}:${question.version}`);
  else found.set(choice.name, question.version);
  for (const [name, version] of question.added ?? []) found.set(name, version);
  if (question.ops.trim()) found.set("ops", question.ops);
  if (question.gpu) found.set("gpu", question.gpu);
  if (question.device !== usualDevice(tables, question)) found.set("device", question.device);
  if (question.scope !== "run") found.set("scope", question.scope);
  for (const [name, value] of Object.entries(question.facts)) found.append("fact", `${name}=${value}`);
  if (question.inference) found.set("inference", "1");
  return found.toString().replaceAll("%2C", ",").replaceAll("%3A", ":").replaceAll("%5B", "[").replaceAll("%5D", "]");
}

export function toCommand(tables, question) {
  const named = [[question.choice, question.version], ...(question.added ?? [])];
  const words = ["d9m", "advise", ...named.flatMap(([name, version]) => option(tables, name, version))];
  const asked = items(question.ops);
  if (asked.length) words.push("--ops", asked.join(","));
  if (question.gpu) words.push("--gpu", question.gpu);
  if (question.device !== usualDevice(tables, question)) words.push("--device", question.device);
  if (question.scope !== "run") words.push("--scope", question.scope);
  for (const [name, value] of Object.entries(question.facts)) words.push("--fact", `${name}=${value}`);
  if (question.inference) words.push("--inference");
  return words.map(quoted).join(" ");
}

// How a package or an image is named on the command line.
function option(tables, name, version) {
  const { option: own } = tables.choices.find((each) => each.name === name);
  if (own === "--container") return [own, `${name}:${version}`];
  return [own, own === "--with" ? `${name}=${version}` : version];
}
