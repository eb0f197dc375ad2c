// The programs that stay: each asks for the next piece of code as if that were a tool, runs it among what earlier pieces left, and
// ends both outputs with a mark.

/** Its first argument is the name to ask under. */
export const PYTHON_KERNEL = `import builtins
import linecache
import os
import sys
import traceback
from hermes_tools import _call

_ask, sys.argv = sys.argv[1], [""]


def _serve():
    names = {"__name__": "__main__", "__builtins__": builtins}
    done, count, own = {}, 0, os.getpid()
    while True:
        job = _call(_ask, done)
        count += 1
        file, code = "<program %d>" % count, job["code"]
        linecache.cache[file] = (len(code), None, code.splitlines(True), file)
        ok = True
        try:
            if job["cwd"] is not None:
                os.chdir(job["cwd"])
            exec(compile(code, file, "exec"), names)
        except SystemExit as end:
            ok = end.code in (None, 0)
            if not ok:
                print(end.code, file=sys.stderr)
        except BaseException:
            ok = False
            kind, error, trace = sys.exc_info()
            traceback.print_exception(kind, error, trace.tb_next)
        sys.stdout.flush()
        sys.stderr.flush()
        if os.getpid() != own:
            os._exit(0 if ok else 1)
        os.write(1, job["mark"].encode())
        os.write(2, job["mark"].encode())
        done = {"ok": ok}


_serve()
`

// The inspector's evaluation is the one that awaits at top level and lets a name be declared again. It knows no import statements.
export const JAVASCRIPT_KERNEL = `import { Session } from 'node:inspector'
import { createRequire } from 'node:module'
import { inspect } from 'node:util'
import { _call } from 'hermes_tools'

const ask = process.argv[2]
process.argv.length = 1
const session = new Session()
session.connect()
globalThis.require = createRequire(process.cwd() + '/')
globalThis.__import = (name) => import(name)

const names = (list) => list.replace(/\\b(\\w+)\\s+as\\s+(\\w+)/g, '$1: $2')
const withoutStatements = (code) =>
  code
    .replace(/^([ \\t]*)import\\s*(["'][^"'\\n]+["'])/gm, '$1await __import($2)')
    .replace(/^([ \\t]*)import\\s+\\*\\s+as\\s+(\\w+)\\s+from\\s*(["'][^"'\\n]+["'])/gm, '$1const $2 = await __import($3)')
    .replace(/^([ \\t]*)import\\s+(\\w+)\\s+from\\s*(["'][^"'\\n]+["'])/gm, '$1const { default: $2 } = await __import($3)')
    .replace(/^([ \\t]*)import\\s*(\\{[^}]*\\})\\s*from\\s*(["'][^"'\\n]+["'])/gm, (_, space, list, from) => space + 'const ' + names(list) + ' = await __import(' + from + ')')
    .replace(/(?<![\\w$.])import\\s*\\(/g, '__import(')

let ok = true
process.on('uncaughtException', (error) => {
  ok = false
  console.error(inspect(error))
})

const evaluate = (expression) =>
  new Promise((resolve) =>
    session.post('Runtime.evaluate', { expression, replMode: true, awaitPromise: true }, (error, answer) => {
      const problem = error?.message ?? answer?.exceptionDetails?.exception?.description ?? answer?.exceptionDetails?.text
      if (problem !== undefined) {
        ok = false
        console.error(problem)
      }
      resolve()
    }),
  )
const write = (stream, text) => new Promise((resolve) => stream.write(text, resolve))

for (let done = {}; ; done = { ok }) {
  const { code, mark, cwd } = await _call(ask, done)
  ok = true
  try {
    if (cwd !== null) process.chdir(cwd)
  } catch (error) {
    ok = false
    console.error(error.message)
  }
  if (ok) await evaluate(withoutStatements(code))
  await Promise.all([write(process.stdout, mark), write(process.stderr, mark)])
}
`
