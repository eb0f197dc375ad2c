import type { EditCase } from './edit-table.js'

// Each edit is meant in one way only: `from` stands once in its file and becomes `to`. A slip blurs what the model sends, or the file it
// did not expect to be so; what has to come out is known from the edit alone, by replacing text, and owes nothing to the matching.

/** An edit as it is meant. */
interface Meant {
  readonly name: string
  readonly file: string
  readonly from: string
  readonly to: string
}

/** How it comes instead; `null` where the edit leaves no room for such a slip. */
type Slip = (meant: Meant) => Omit<EditCase, 'name'> | null

const TYPESCRIPT = `import { readFile } from 'node:fs/promises'

export interface Settings {
    readonly host: string
    readonly port: number
}

/** Reads "settings.json" — or what stands for it. */
async function loadSettings(path: string): Promise<Settings> {
    const text = await readFile(path, 'utf8')
    const parsed = JSON.parse(text) as Partial<Settings>
    if (parsed.host === undefined) {
        throw new Error("The host is missing.")
    }
    return { host: parsed.host, port: parsed.port ?? 8080 }
}

export class Server {
    #requests = 0

    handle(request: Request): Response {
        this.#requests += 1
        for (const [name, value] of request.headers) {
            if (name === 'x-trace') {
                console.log("trace", value)
            }
        }
        return new Response("ok", { status: 200 })
    }
}
`

const PYTHON = `import csv
from dataclasses import dataclass


@dataclass
class Row:
    name: str
    amount: float

    def is_large(self) -> bool:
        return self.amount > 1000


def read_rows(path):
    rows = []
    with open(path, newline="") as handle:
        for record in csv.DictReader(handle):
            if not record["name"]:
                continue
            rows.append(Row(record["name"], float(record["amount"])))
    return rows


def total(rows, tax=0.2):
    """The total — with tax."""
    result = 0
    for row in rows:
        result += row.amount * (1 + tax)
    return round(result, 2)
`

const HTML = `<!doctype html>
<html lang="en">
    <head>
        <title>Orders</title>
        <link rel="stylesheet" href="main.css">
    </head>
    <body>
        <nav class="top">
            <a href="/">Home</a>
            <a href="/orders">Orders</a>
        </nav>
        <main>
            <h1>Orders — today</h1>
            <form method="post">
                <label for="name">Name</label>
                <input id="name" name="name">
                <button type="submit">Send</button>
            </form>
        </main>
    </body>
</html>
`

const RUST = `use std::collections::HashMap;

pub struct Counter {
    words: HashMap<String, usize>,
}

impl Counter {
    pub fn new() -> Self {
        Counter { words: HashMap::new() }
    }

    /// Adds the "words" of a line.
    pub fn add(&mut self, line: &str) {
        for word in line.split_whitespace() {
            let key = word.to_lowercase();
            *self.words.entry(key).or_insert(0) += 1;
        }
    }

    pub fn most(&self) -> Option<(&String, &usize)> {
        self.words.iter().max_by_key(|(_, count)| **count)
    }
}
`

const SQL = `CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer TEXT NOT NULL,
    amount NUMERIC NOT NULL DEFAULT 0
);

CREATE VIEW large_orders AS
    SELECT customer, sum(amount) AS "total"
    FROM orders
    WHERE amount > 1000
    GROUP BY customer;
`

const MARKDOWN = `# Setup

Install the tools first — then build.

1. Run "npm install".
2. Copy the file config.example.json.
    - Change the "host" in it.
    - Leave the rest.

## Building

    npm run build
    npm test

Done.
`

const edit = (name: string, file: string, from: string, to: string): Meant => ({ name, file, from, to })

const MEANT: readonly Meant[] = [
  edit('a new field', TYPESCRIPT, '    readonly host: string\n    readonly port: number', '    readonly host: string\n    readonly port: number\n    readonly secure: boolean'),
  edit('another message', TYPESCRIPT, '    if (parsed.host === undefined) {\n        throw new Error("The host is missing.")\n    }', '    if (parsed.host === undefined) {\n        throw new TypeError("Name the host.")\n    }'),
  edit('a block wrapped in another', TYPESCRIPT, '            if (name === \'x-trace\') {\n                console.log("trace", value)\n            }', '            if (this.#requests > 1) {\n                if (name === \'x-trace\') {\n                    console.log("trace", value)\n                }\n            }'),
  edit('a line deleted', TYPESCRIPT, '        this.#requests += 1\n        for (const [name, value] of request.headers) {', '        for (const [name, value] of request.headers) {'),
  edit('another default', TYPESCRIPT, '    return { host: parsed.host, port: parsed.port ?? 8080 }', '    return { host: parsed.host, port: parsed.port ?? 3000 }'),
  edit('another status', TYPESCRIPT, '        return new Response("ok", { status: 200 })', '        return new Response("made", { status: 201 })'),
  edit('a comment with a dash', TYPESCRIPT, '/** Reads "settings.json" — or what stands for it. */\nexport async function loadSettings', '/** Loads "settings.json" — or what stands for it. */\nexport async function loadSettings'),
  edit('another limit', PYTHON, '    def is_large(self) -> bool:\n        return self.amount > 1000', '    def is_large(self) -> bool:\n        return self.amount >= 500'),
  edit('a guard clause', PYTHON, '        for record in csv.DictReader(handle):\n            if not record["name"]:\n                continue', '        for record in csv.DictReader(handle):\n            if not record["name"] or not record["amount"]:\n                continue'),
  edit('a line put between', PYTHON, '    for row in rows:\n        result += row.amount * (1 + tax)', '    for row in rows:\n        rate = 1 + tax\n        result += row.amount * rate'),
  edit('a signature', PYTHON, 'def total(rows, tax=0.2):\n    """The total — with tax."""', 'def total(rows, tax=0.19):\n    """The total — with tax."""'),
  edit('an encoding', PYTHON, '    with open(path, newline="") as handle:', '    with open(path, newline="", encoding="utf-8") as handle:'),
  edit('the end of a function', PYTHON, '            rows.append(Row(record["name"], float(record["amount"])))\n    return rows', '            rows.append(Row(record["name"], float(record["amount"])))\n    return sorted(rows)'),
  edit('a link added', HTML, '            <a href="/">Home</a>\n            <a href="/orders">Orders</a>', '            <a href="/">Home</a>\n            <a href="/orders">Orders</a>\n            <a href="/about">About</a>'),
  edit('an attribute', HTML, '                <input id="name" name="name">', '                <input id="name" name="name" required>'),
  edit('a heading with a dash', HTML, '            <h1>Orders — today</h1>\n            <form method="post">', '            <h1>Orders — this week</h1>\n            <form method="post">'),
  edit('a wrapped element', HTML, '                <label for="name">Name</label>\n                <input id="name" name="name">', '                <div class="row">\n                    <label for="name">Name</label>\n                    <input id="name" name="name">\n                </div>'),
  edit('a key', RUST, '            let key = word.to_lowercase();\n            *self.words.entry(key).or_insert(0) += 1;', '            let key = word.trim().to_lowercase();\n            *self.words.entry(key).or_insert(0) += 1;'),
  edit('a new method', RUST, '    pub fn new() -> Self {\n        Counter { words: HashMap::new() }\n    }', '    pub fn new() -> Self {\n        Counter { words: HashMap::new() }\n    }\n\n    pub fn len(&self) -> usize {\n        self.words.len()\n    }'),
  edit('a documented line', RUST, '    /// Adds the "words" of a line.\n    pub fn add(&mut self, line: &str) {', '    /// Counts the "words" of a line.\n    pub fn add(&mut self, line: &str) {'),
  edit('a column', SQL, '    customer TEXT NOT NULL,\n    amount NUMERIC NOT NULL DEFAULT 0', '    customer TEXT NOT NULL,\n    placed_at TEXT,\n    amount NUMERIC NOT NULL DEFAULT 0'),
  edit('a condition', SQL, '    SELECT customer, sum(amount) AS "total"\n    FROM orders\n    WHERE amount > 1000', '    SELECT customer, sum(amount) AS "total"\n    FROM orders\n    WHERE amount > 500'),
  edit('a step', MARKDOWN, '    - Change the "host" in it.\n    - Leave the rest.', '    - Change the "host" in it.\n    - Set the "port".\n    - Leave the rest.'),
  edit('a command', MARKDOWN, '    npm run build\n    npm test', '    npm ci\n    npm run build\n    npm test'),
]

const applied = ({ file, from, to }: Meant): string => file.replace(from, () => to)
const eachLine = (text: string, change: (line: string) => string): string => text.split('\n').map(change).join('\n')
const indentOf = (line: string): number => /^ */.exec(line)![0].length
const crlf = (text: string): string => text.replaceAll('\n', '\r\n')

const SLIPS: Readonly<Record<string, Slip>> = {
  'as it is': (meant) => ({ file: meant.file, old: meant.from, new: meant.to, expect: applied(meant) }),
  'with the indentation of its first line left out': (meant) => {
    const depth = indentOf(meant.from)
    if (depth === 0) return null
    const shallower = (text: string) => eachLine(text, (line) => line.slice(Math.min(depth, indentOf(line))))
    return { file: meant.file, old: shallower(meant.from), new: shallower(meant.to), expect: applied(meant) }
  },
  'with two more spaces in front of every line': (meant) => {
    if (indentOf(meant.from) === 0 || !meant.from.includes('\n')) return null
    const deeper = (text: string) => eachLine(text, (line) => (line === '' ? line : `  ${line}`))
    return { file: meant.file, old: deeper(meant.from), new: deeper(meant.to), expect: applied(meant) }
  },
  'with tabs for indentation': (meant) => {
    const tabs = (text: string) => eachLine(text, (line) => line.replace(/^(?: {4})+/, (run) => '\t'.repeat(run.length / 4)))
    // One line alone does not tell how wide a tab is, nor how deep a nested block is.
    if (tabs(meant.from) === meant.from || new Set(meant.from.split('\n').map(indentOf)).size < 2) return null
    return { file: meant.file, old: tabs(meant.from), new: tabs(meant.to), expect: applied(meant) }
  },
  'in a file with CRLF': (meant) => ({ file: crlf(meant.file), old: meant.from, new: meant.to, expect: crlf(applied(meant)) }),
  'with CRLF in the call': (meant) => ({ file: meant.file, old: crlf(meant.from), new: crlf(meant.to), expect: applied(meant) }),
  'with curly quotes in the call': (meant) => {
    const curly = (text: string) => text.replace(/"([^"\n]*)"/g, '“$1”')
    if (curly(meant.from) === meant.from) return null
    return { file: meant.file, old: curly(meant.from), new: curly(meant.to), expect: applied(meant) }
  },
  'with a plain dash for a long one': (meant) => {
    const plain = (text: string) => text.replaceAll('—', '-')
    if (plain(meant.from) === meant.from) return null
    return { file: meant.file, old: plain(meant.from), new: plain(meant.to), expect: applied(meant) }
  },
  'with spaces at the ends of lines in the call': (meant) => {
    if (!meant.from.includes('\n')) return null
    const loose = (text: string) => eachLine(text, (line) => (line === '' ? line : `${line}  `))
    // The new text is what was meant: only the copy of the old one has the spaces.
    return { file: meant.file, old: loose(meant.from), new: meant.to, expect: applied(meant) }
  },
  'with blank lines around': (meant) => ({
    file: meant.file,
    old: `\n${meant.from}\n\n`,
    new: `\n${meant.to}\n\n`,
    expect: applied(meant),
  }),
  'in a file that grew above and below': (meant) => {
    const around = Array.from({ length: 40 }, (_, at) => `// line ${at} that nobody had seen\n`).join('')
    return { file: `${around}${meant.file}${around}`, old: meant.from, new: meant.to, expect: `${around}${applied(meant)}${around}` }
  },
  'where the same stands twice': (meant) => ({
    file: `${meant.file}\n${meant.file}`,
    old: meant.from,
    new: meant.to,
    expect: { refused: 'ambiguous' },
  }),
}

/** Every edit with every slip that it leaves room for. */
export const EDIT_CORPUS: readonly EditCase[] = MEANT.flatMap((meant) =>
  Object.entries(SLIPS).flatMap(([slip, make]) => {
    const made = make(meant)
    return made ? [{ name: `${meant.name}, ${slip}`, ...made }] : []
  }),
)
