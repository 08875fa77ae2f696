// Values in the text of a Python call. The same as resolver/d9m/model/literals.py.

export const EXPRESSION = "?"; // begins a value that the text does not say: ?self.mode

const QUOTED = /^[a-zA-Z]{0,2}(['"])(.*)\1$/s;
const WORDS = { True: "true", False: "false", None: "none" };
const WHOLE = /^[-+]?\d{1,18}$/;
const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;
const PARTS = /[^,()[\]{}'"]+|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|./gs;

export function value(text) {
  const written = text.trim();
  if (written in WORDS) return WORDS[written];
  const quoted = QUOTED.exec(written);
  if (quoted) return quoted[2].toLowerCase();
  if (WHOLE.test(written)) return String(BigInt(written.replace("+", "")));
  if (NUMBER.test(written)) return Number.isInteger(Number(written)) ? Number(written).toFixed(1) : String(Number(written));
  if (/^[([]/.test(written) && /[)\]]$/.test(written)) {
    const elements = splitParts(written.slice(1, -1)).map(value);
    if (!elements.some((element) => element.startsWith(EXPRESSION))) return elements.join(",");
  }
  return EXPRESSION + written;
}

export function splitParts(text) {
  const parts = [""];
  let depth = 0;
  for (const piece of text.match(PARTS) ?? []) {
    depth += "([{".includes(piece) - ")]}".includes(piece);
    if (piece === "," && depth <= 0) parts.push("");
    else parts[parts.length - 1] += piece;
  }
  return parts.map((part) => part.trim()).filter(Boolean);
}

export function kind(text) {
  const written = text.trim();
  if (QUOTED.test(written)) return "str";
  if (written in WORDS) return written === "None" ? "none" : "bool";
  if (WHOLE.test(written)) return "int";
  if (NUMBER.test(written)) return "number";
  return /^[([]/.test(written) ? "sequence" : "expression";
}
