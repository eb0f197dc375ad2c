// A stand-in for an agent that is killed while its program waits for a tool: tells the program's number.
import { testPermit } from '../../testing/permit.js'
import { codeAction, createCodeHost } from '../index.js'

const [directory, path] = process.argv.slice(2)
const host = createCodeHost({
  tempDir: directory,
  outputDir: directory,
  workspace: directory,
  home: directory,
  env: { PATH: path },
})
const tools = {
  definitions: [{ name: 'read_file', description: 'Reads.', parameters: { type: 'object', properties: { path: {} } } }],
  call: (_, args) => {
    process.stdout.write(`${args.path}\n`)
    return new Promise(() => setInterval(() => undefined, 1_000))
  },
}
const code = `import os, signal, subprocess
from hermes_tools import read_file
daemon = subprocess.Popen(['sleep', '600'], start_new_session=True)
open('daemon', 'w').write(str(daemon.pid))
signal.signal(signal.SIGTERM, signal.SIG_IGN)
try:
  read_file(str(os.getpid()))
except RuntimeError as error:
  open("noticed", "w").write(str(error))`
const request = { language: 'python', code, cwd: directory, sessionId: 's', tools }
await host.run(testPermit(codeAction(request)), {
  ...request,
  signal: new AbortController().signal,
  progress: () => undefined,
})
