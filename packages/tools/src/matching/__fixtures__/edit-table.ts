/** One edit as a model may send it, with the text that has to come out of it, or why nothing may be changed. */
export interface EditCase {
  readonly name: string
  readonly file: string
  readonly old: string
  readonly new: string
  readonly all?: true
  readonly expect:
    | string
    | { readonly refused: 'ambiguous' | 'not-found' | 'unsure' }
    | { readonly refused: 'already-applied' }
}

const lines = (...all: readonly string[]): string => `${all.join('\n')}\n`
const crlf = (...all: readonly string[]): string => `${all.join('\r\n')}\r\n`

const SERVER = lines(
  'class Server {',
  '    constructor(port) {',
  '        this.port = port;',
  '    }',
  '',
  '    start() {',
  "        console.log('starting');",
  '        this.listen(this.port);',
  '    }',
  '}',
)
const server = (from: string, to: string): string => SERVER.replace(from, () => to)

const PYTHON = lines(
  'def load(path):',
  '    """Loads the settings."""',
  '    with open(path) as handle:',
  '        data = json.load(handle)',
  '    return data',
  '',
  '',
  'def save(path, data):',
  '    with open(path, "w") as handle:',
  '        json.dump(data, handle)',
)
const python = (from: string, to: string): string => PYTHON.replace(from, () => to)

const TABS = lines('func main() {', '\tfor i := 0; i < 3; i++ {', '\t\tfmt.Println("row", i)', '\t}', '}')

const exactly: readonly EditCase[] = [
  { name: 'a word in a line', file: SERVER, old: 'this.listen', new: 'await this.listen', expect: server('this.listen', 'await this.listen') },
  { name: 'several lines', file: SERVER, old: '    start() {\n        console', new: '    async start() {\n        console', expect: server('start()', 'async start()') },
  { name: 'a deletion', file: SERVER, old: "        console.log('starting');\n", new: '', expect: server("        console.log('starting');\n", '') },
  { name: 'dollar signs in the new text', file: 'cost = 1\n', old: '= 1', new: "= '$& $1 $$'", expect: "cost = '$& $1 $$'\n" },
  { name: 'every place on request', file: 'a = 1\nb = a\n', old: 'a', new: 'x', all: true, expect: 'x = 1\nb = x\n' },
  { name: 'backslashes of a pattern', file: "const at = /\\d+\\t/\n", old: '/\\d+\\t/', new: '/\\d*\\t/', expect: "const at = /\\d*\\t/\n" },
  { name: 'a literal \\n in a string stays two characters', file: 'print("a")\n', old: 'print("a")', new: 'print("a\\nb")', expect: 'print("a\\nb")\n' },
  { name: 'a literal \\t in a string stays two characters in a file with tabs', file: TABS, old: '\t\tfmt.Println("row", i)', new: '\t\tfmt.Println("row\\t", i)', expect: TABS.replace('row', 'row\\t') },
  { name: 'the last line without line end', file: 'a\nlast', old: 'last', new: 'final', expect: 'a\nfinal' },
]

const indented: readonly EditCase[] = [
  { name: 'no indentation at all', file: SERVER, old: 'start() {\n    console.log(\'starting\');\n    this.listen(this.port);\n}', new: 'start() {\n    this.listen(this.port);\n}', expect: server("        console.log('starting');\n", '') },
  { name: 'one level too few, with a new block', file: SERVER, old: '    console.log(\'starting\');\n    this.listen(this.port);', new: '    if (this.port) {\n        this.listen(this.port);\n    }', expect: server("        console.log('starting');\n        this.listen(this.port);", '        if (this.port) {\n            this.listen(this.port);\n        }') },
  { name: 'one space too many on every line', file: PYTHON, old: '     with open(path) as handle:\n         data = json.load(handle)', new: '     with open(path, "rb") as handle:\n         data = json.load(handle)', expect: python('open(path) as', 'open(path, "rb") as') },
  { name: 'two spaces for four', file: SERVER, old: '  start() {\n    console.log(\'starting\');', new: '  start() {\n    console.log(\'up\');', expect: server('starting', 'up') },
  { name: 'spaces for tabs', file: TABS, old: '    for i := 0; i < 3; i++ {\n        fmt.Println("row", i)', new: '    for i := 0; i < 9; i++ {\n        fmt.Println("row", i)', expect: TABS.replace('< 3', '< 9') },
  { name: 'tabs for spaces', file: PYTHON, old: '\twith open(path) as handle:\n\t\tdata = json.load(handle)', new: '\twith open(path) as handle:\n\t\tdata = yaml.load(handle)', expect: python('json.load', 'yaml.load') },
  { name: 'spaces for tabs in one line do not tell how deep a nested block is', file: TABS, old: '  fmt.Println("row", i)', new: '  if i > 1 {\n    fmt.Println("row", i)\n  }', expect: { refused: 'unsure' } },
  { name: 'a line that is there deeper too', file: 'go()\n  go()\n', old: 'go() ', new: 'stop()', expect: 'stop()\n  go()\n' },
  { name: 'trailing spaces in the file', file: 'a = 1;  \nb = 2;\t\nc = 3;\n', old: 'a = 1;\nb = 2;\nc = 3;', new: 'a = 1;\nb = 5;\nc = 3;', expect: 'a = 1;  \nb = 5;\nc = 3;\n' },
  { name: 'trailing spaces in the call', file: 'a = 1;\nb = 2;\n', old: 'a = 1; \nb = 2;  ', new: 'a = 1;\nb = 7;', expect: 'a = 1;\nb = 7;\n' },
  { name: 'no rule for the indentation', file: 'a:\n   b\n c\n', old: ' a:\n b\n  c', new: ' a:\n b\n  d', expect: { refused: 'unsure' } },
  { name: 'columns aligned with several spaces', file: 'name    = "x"\nversion = "1"\n', old: 'name = "x"\nversion = "1"', new: 'name = "x"\nversion = "2"', expect: 'name    = "x"\nversion = "2"\n' },
  { name: 'joined words are other words', file: 'foobar = 1\n', old: 'foo bar = 1', new: 'x = 1', expect: { refused: 'not-found' } },
]

const boundaries: readonly EditCase[] = [
  { name: 'blank lines around that are not there', file: 'a()\nb()\nc()\n', old: '\nb()\n\n', new: '\nd()\n\n', expect: 'a()\nd()\nc()\n' },
  { name: 'blank lines around a deletion', file: 'a()\n  b()\nc()\n', old: '\n\n  b()\n\n', new: '', expect: 'a()\nc()\n' },
  { name: 'a space behind a piece of a line', file: 'x = run(job); // now\n', old: 'run(job)  ', new: 'run(job, 2)', expect: 'x = run(job, 2); // now\n' },
  { name: 'a space in front of a piece of a word', file: 'rerun(job)\n', old: ' run(job)', new: ' go(job)', expect: { refused: 'not-found' } },
  { name: 'blank lines around a text that is there twice', file: 'a()\nb()\na()\n', old: '\n\na()\n\n', new: 'c()', expect: { refused: 'ambiguous' } },
  { name: 'another boundary in the new text', file: 'x = run(job); // now\n', old: ' \trun(job)\t', new: '    go(job)', expect: { refused: 'unsure' } },
]

const typography: readonly EditCase[] = [
  { name: 'curly quotes in the file', file: 'She said “yes” and left.\n', old: 'She said "yes" and left.', new: 'She said "yes" and stayed.', expect: 'She said “yes” and stayed.\n' },
  { name: 'curly quotes in the call', file: 'say("hi")\n', old: 'say(“hi”)', new: 'say(“ho”)', expect: 'say("ho")\n' },
  { name: 'a long dash', file: 'Fast — and safe.\n', old: 'Fast - and safe.', new: 'Fast - and small.', expect: 'Fast — and small.\n' },
  { name: 'an ellipsis', file: 'Loading… please wait\n', old: 'Loading... please wait', new: 'Loading... hold on', expect: 'Loading… hold on\n' },
  { name: 'a space that does not break', file: '10\u00A0km away\n', old: '10 km away', new: '10 km off', expect: '10\u00A0km off\n' },
  { name: 'a thin space and a minus', file: 'x\u2009=\u2009\u22125\n', old: 'x = -5', new: 'x = -6', expect: 'x\u2009=\u2009\u22126\n' },
  { name: 'an apostrophe', file: 'it’s here\nit is\n', old: "it's here", new: "it's there", expect: 'it’s there\nit is\n' },
  { name: 'half an ellipsis', file: 'wait…\n', old: 'wait..', new: 'stop', expect: { refused: 'not-found' } },
  { name: 'letters outside the basic plane', file: 'a 🎉 b\nc\n', old: '🎉 b', new: '🎊 b', expect: 'a 🎊 b\nc\n' },
  { name: 'an umlaut in two code points is another text', file: 'u\u0308ber\n', old: 'über alles und jeden', new: 'x', expect: { refused: 'not-found' } },
]

const quotes: readonly EditCase[] = [
  { name: 'double quotes for single ones, kept elsewhere', file: SERVER, old: '        console.log("starting");\n        this.listen(this.port);', new: '        console.log("starting");\n        this.listen(0);', expect: server('this.listen(this.port)', 'this.listen(0)') },
  { name: 'double quotes for single ones, in the changed line', file: SERVER, old: '        console.log("starting");', new: '        console.log("ready");', expect: server('starting', 'ready') },
  { name: 'single quotes for double ones', file: 'import x from "y"\nrun(x)\n', old: "import x from 'y'", new: "import x from 'z'", expect: 'import x from "z"\nrun(x)\n' },
  { name: 'quotes that would end the string', file: "log('a')\nrun()\n", old: 'log("a")', new: 'log("it\'s")', expect: { refused: 'not-found' } },
  { name: 'escaped quotes throughout', file: 'print("a")\n', old: 'print(\\"a\\")', new: 'print(\\"b\\")', expect: 'print("b")\n' },
  { name: 'escaped quotes in one string only', file: 'print("a")\n', old: 'print(\\"a\\")', new: 'print("b")', expect: { refused: 'unsure' } },
  { name: 'backslashes before quotes that the file has not', file: "  msg = 'don\\'t' + \"it's\"  \nend\n", old: "msg = 'don\\'t' + \"it\\'s\"", new: "msg = 'don\\'t' + \"it\\'s so\"", expect: { refused: 'not-found' } },
  { name: 'escaped tabs where the file has tabs', file: 'all:\n\tmake x\n', old: 'all:\n\\tmake x', new: 'all:\n\\tmake y', expect: 'all:\n\tmake y\n' },
  { name: 'one line with an escaped tab', file: 'all:\n\tmake x\n', old: '\\tmake x', new: '\\tmake y', expect: 'all:\n\tmake y\n' },
  { name: 'an escaped line end in the new text', file: 'a = 1\nb = 2\n', old: 'a = 1\\nb = 2', new: 'a = 1\\nb = 3', expect: { refused: 'unsure' } },
  { name: 'a semicolon left out', file: 'let a = 1;\nlet b = 2;\n', old: 'let a = 1\nlet b = 2', new: 'let a = 1\nlet b = 3', expect: 'let a = 1;\nlet b = 3;\n' },
]

const lineEnds: readonly EditCase[] = [
  { name: 'LF for CRLF', file: crlf('a', 'b', 'c'), old: 'a\nb', new: 'a\nx\ny', expect: crlf('a', 'x', 'y', 'c') },
  { name: 'CRLF for LF', file: lines('a', 'b', 'c'), old: 'a\r\nb', new: 'a\r\nx', expect: lines('a', 'x', 'c') },
  { name: 'CRLF with another indentation', file: crlf('if x:', '    go()'), old: 'if x:\n  go()', new: 'if x:\n  stop()', expect: crlf('if x:', '    stop()') },
  { name: 'mixed line ends stay mixed', file: 'a\r\nb\nc\r\n', old: 'b', new: 'x\ny', expect: 'a\r\nx\ny\nc\r\n' },
  { name: 'CRLF with spaces at line ends', file: 'a \r\nb\r\nc\r\n', old: 'a\nb', new: 'a\nx', expect: 'a \r\nx\r\nc\r\n' },
  { name: 'CRLF and curly quotes', file: crlf('“a”', 'b'), old: '"a"\nb', new: '"a"\nc', expect: crlf('“a”', 'c') },
]

const repeated: readonly EditCase[] = [
  { name: 'the same line twice', file: 'x = 1\ny\nx = 1\n', old: 'x = 1', new: 'x = 2', expect: { refused: 'ambiguous' } },
  { name: 'the same block twice, told apart by a neighbour', file: lines('def a():', '  return 1', 'def b():', '  return 1'), old: 'def b():\n  return 1', new: 'def b():\n  return 2', expect: lines('def a():', '  return 1', 'def b():', '  return 2') },
  { name: 'the same block twice in other indentation', file: '  go()\n  end\n    go()\n    end\n', old: 'go()\nend', new: 'x()\nend', expect: { refused: 'ambiguous' } },
  { name: 'a loose match in two places is not changed in both', file: 'x  = 1\ny\nx   = 1\n', old: 'x = 1', new: 'x = 2', all: true, expect: { refused: 'ambiguous' } },
  { name: 'one exact place beside a loose one', file: 'x = 1\ny\n  x  = 1\n', old: 'x = 1', new: 'x = 2', expect: 'x = 2\ny\n  x  = 1\n' },
  { name: 'a block of another name', file: lines('def test_b():', '    x = setup()', '    assert x.ok', '    done()'), old: 'def test_a():\n    x = setup()\n    assert x.ok\n    done()', new: 'def test_a():\n    x = setup()\n    assert x.fine\n    done()', expect: { refused: 'not-found' } },
  { name: 'an entry of another name between the same braces', file: lines('[', '  {', '    "name": "alpha",', '    "size": 10', '  }', ']'), old: '  {\n    "name": "gamma",\n    "size": 10\n  }', new: '  {\n    "name": "gamma",\n    "size": 20\n  }', expect: { refused: 'not-found' } },
  { name: 'another number', file: 'server:\n  port: 8080\n  host: local\n', old: 'server:\n  port: 8081\n  host: local', new: 'server:\n  port: 8081\n  host: remote', expect: { refused: 'not-found' } },
  { name: 'another operator', file: 'if (a >= b) {\n  go(a, b)\n  return\n}\n', old: 'if (a <= b) {\n  go(a, b)\n  return', new: 'if (a <= b) {\n  stop(a, b)\n  return', expect: { refused: 'not-found' } },
]

const drifted: readonly EditCase[] = [
  { name: 'a comment in the block was reworded', file: python('Loads the settings.', 'Reads settings from a file.'), old: 'def load(path):\n    """Loads the settings."""\n    with open(path) as handle:\n        data = json.load(handle)\n    return data', new: 'def load(path):\n    """Loads the settings."""\n    with open(path) as handle:\n        data = json.load(handle)\n    return dict(data)', expect: python('Loads the settings.', 'Reads settings from a file.').replace('return data', 'return dict(data)') },
  { name: 'a neighbouring line got an argument', file: server("console.log('starting')", "console.log('starting', this.port)"), old: "    start() {\n        console.log('starting');\n        this.listen(this.port);\n    }", new: "    start() {\n        console.log('starting');\n        this.listen(this.port, this.host);\n    }", expect: server("console.log('starting')", "console.log('starting', this.port)").replace('listen(this.port)', 'listen(this.port, this.host)') },
  { name: 'the line to change is another one by now', file: server('this.listen(this.port)', 'this.server.listen(this.port)'), old: "    start() {\n        console.log('starting');\n        this.listen(this.port);\n    }", new: "    start() {\n        console.log('starting');\n        this.listen(0);\n    }", expect: { refused: 'not-found' } },
  { name: 'most of the block is another one by now', file: lines('function total(items) {', '  log(items)', '  return sum(items, tax)', '}'), old: 'function total(items) {\n  const rate = 3\n  for (const one of items) add(one)\n  return 1\n}', new: 'function total(items) {\n  const rate = 4\n  for (const one of items) add(one)\n  return 1\n}', expect: { refused: 'not-found' } },
  { name: 'a misspelt word in a line that stays', file: PYTHON, old: 'def save(path, data):\n    with open(path, "w") as hanlde:\n        json.dump(data, handle)', new: 'def save(path, data):\n    with open(path, "w") as hanlde:\n        json.dump(data, handle, indent=2)', expect: python('json.dump(data, handle)', 'json.dump(data, handle, indent=2)') },
  { name: 'a misspelt word in the line to change', file: 'const timeout = readTimeout(config)\nrun()\n', old: 'const timeuot = readTimeout(config)', new: 'const timeuot = readTimeout(config, 5)', expect: { refused: 'not-found' } },
  { name: 'done already', file: 'const answer = 42\n', old: 'const answer = 41', new: 'const answer = 42', expect: { refused: 'already-applied' } },
  { name: 'inserted already', file: 'import a\nimport b\nrest\n', old: 'import a\n', new: 'import a\nimport b\n', expect: { refused: 'already-applied' } },
  { name: 'moved to another place in the file', file: `${lines('// a', '// b')}${SERVER}`, old: '    start() {', new: '    async start() {', expect: `${lines('// a', '// b')}${server('start()', 'async start()')}` },
]

/** Edits as models send them, sharp and blurred. */
export const EDIT_CASES: Readonly<Record<string, readonly EditCase[]>> = {
  exactly,
  indented,
  boundaries,
  typography,
  quotes,
  'line ends': lineEnds,
  repeated,
  drifted,
}
