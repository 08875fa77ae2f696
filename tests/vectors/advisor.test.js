// Runs the advisor's scripts against vectors that Python wrote: `node --test` in the folder that holds all of them.
// tests/site/test_twin.py makes that folder: the scripts, tables.json and vectors.json.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { Advisor, Mistake } from "./advisor.js";
import { explain } from "./explain.js";
import { formats } from "./formats.js";
import { toCommand } from "./question.js";
import { environment, headline } from "./words.js";

const tables = JSON.parse(readFileSync("tables.json"));
const vectors = JSON.parse(readFileSync("vectors.json"));
const advisor = new Advisor(tables);

// An answer less what the page leaves to the pages of records.
function compared(answer) {
  if (Array.isArray(answer)) return answer.map(compared);
  if (answer === null || typeof answer !== "object") return answer;
  const kept = Object.entries(answer).filter(([name]) => !vectors.left_out.includes(name));
  const found = Object.fromEntries(kept.map(([name, value]) => [name, compared(value)]));
  if ("environment" in found) found.environment.device = answer.environment.device;
  return found;
}

function ask(question) {
  try {
    return compared(advisor.ask(question));
  } catch (error) {
    if (!(error instanceof Mistake)) throw error;
    return { mistake: true };
  }
}

for (const { name, question, answer, command, imports, blocks, says } of vectors.questions) {
  test(name, () => {
    const found = ask(question);
    for (const [key, value] of Object.entries(answer)) assert.deepEqual(found[key], value, key);
    if (answer.mistake) return;
    assert.equal(toCommand(tables, question), command);
    const advice = advisor.ask(question);
    assert.equal(environment(tables, advice), says, "environment");
    assert.match(headline(tables, advice), /\.$/);
    const written = formats(tables, advice, command, imports);
    for (const [, format, text] of written) if (format in blocks) assert.equal(text, blocks[format], format);
  });
}

test("the beginnings of error texts", () => {
  for (const [text, ids] of vectors.errors) {
    assert.deepEqual(explain(tables, text).map((error) => error.id), ids, text);
  }
});
