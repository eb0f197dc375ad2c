// A start evaluates a module when it is used first, and finds the same in it as when all were evaluated in a row.
import { parseSync } from 'oxc-parser'
import { expect, it } from 'vitest'
import { evaluateWhenUsed } from '../../tsup.units.js'

const CHUNK = `// ../../node_modules/lib/index.js
log("lib");
var lib = { twice: (value) => value * 2 };

// builtin:node:path 3
var all = (log("builtin"), { join: (...parts) => parts.join("/") });
var $join = all.join;

// ../../packages/a/src/a.ts
var BASE = (log("a"), 20);
var Shape = class {
  size = BASE;
};
var kinds = { Inner: class { name = "inner" } };
var count = 0;
function next() {
  return ++count;
}
function nothing() {
  return this === undefined;
}

// ../../packages/b/src/b.ts
var START = (log("b"), 1);
function where(name) {
  const local = { BASE, [name]: START, key: 1 };
  return $join(String(local.BASE), String(new Shape().size + local[name]), \`\${lib.twice(next())}\`, String(nothing()), new kinds.Inner().name);
}
var whole = { where: 1 };

// ../../packages/c/src/c.ts
log("c");
var eager = START;
export { where as default, eager, count, remote };
`

function run(code: string, imported = new Map([['remote', 'there().remote']])) {
  const { program, comments, module } = parseSync('chunk.js', code)
  const exports = module.staticExports
    .flatMap(({ entries }) => entries)
    .map(({ exportName, localName }) => ({ name: exportName.name ?? 'default', local: localName.name! }))
  const body = evaluateWhenUsed({
    text: code,
    body: program.body,
    comments,
    imported,
    changed: new Set(['count']),
    edits: [],
    exports,
  })
  const log: string[] = []
  const make = new Function('log', 'there', `"use strict";${body}`) as (
    log: (line: string) => void,
    there: () => unknown,
  ) => Record<string, unknown>
  return {
    log,
    chunk: make(
      (line) => log.push(line),
      () => (log.push('there'), { remote: 'remote' }),
    ),
  }
}

it('evaluates what others wrote in its turn, and what is ours when it is used first', () => {
  const { log, chunk } = run(CHUNK)
  // The last module does something by itself, and takes something of the one before.
  expect(log).toEqual(['lib', 'c', 'builtin', 'b'])
  expect(chunk['eager']).toBe(1)
  expect(log).not.toContain('a')
  expect(chunk['count']).toBe(0)
  expect(log.splice(0)).toEqual(['lib', 'c', 'builtin', 'b', 'a'])
  expect((chunk['default'] as (name: string) => string)('name')).toBe('20/21/2/true/inner')
  // What changes is seen as it is.
  expect(chunk['count']).toBe(1)
  expect(log).toEqual([])
  expect(chunk['remote']).toBe('remote')
  expect(log).toEqual(['there'])
})

it('says which name it cannot hand on as it changes', () => {
  expect(() => run('// a/b.js\nvar count = 0;\nexport { count };\n')).toThrow('A chunk exports count, which changes.')
})
