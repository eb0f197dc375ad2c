import type { Finding } from '@hermes/contracts/extension'
import { extensionFindings } from '../doctor/extensions.js'
import { homeFindings } from '../doctor/home.js'
import { memoryFindings } from '../doctor/memory.js'
import { modelFinding } from '../doctor/model.js'
import { programFindings } from '../doctor/programs.js'
import { proxyFindings } from '../doctor/proxies.js'
import { rescueFindings, storeFinding } from '../doctor/store.js'
import { terminalFindings } from '../doctor/terminal.js'
import { EXIT } from '../errors.js'
import type { Io } from '../io.js'
import { openCli } from '../open-cli.js'
import { createStyle } from '../render/style.js'

/** `hermes doctor`: what works, what does not, and what to do about it. Exit code 1 when something fails. */
export async function doctor(io: Io, options: { readonly offline?: boolean } = {}): Promise<number> {
  const style = createStyle(io.stdout)
  const mark = { ok: style.green('ok  '), warn: style.yellow('warn'), fail: style.red('fail') }
  let failed = false
  const show = (findings: readonly Finding[]) => {
    for (const { level, text } of findings) {
      failed ||= level === 'fail'
      io.stdout.write(`${mark[level]}  ${text}\n`)
    }
  }
  show([{ level: 'ok', text: `Node ${process.versions.node}` }])
  show(await homeFindings(io))
  show(proxyFindings(io))
  const quiet = { ...io, stderr: { ...io.stderr, write: () => undefined } }
  const runtime = await openCli(quiet, { yolo: false })
  try {
    show([await storeFinding(io, runtime)])
    show(await rescueFindings(runtime))
    show([await modelFinding(runtime, { isOffline: options.offline ?? false })])
    show(await memoryFindings(runtime, { isOffline: options.offline ?? false }))
    show(await terminalFindings(runtime, { isOffline: options.offline ?? false }))
    show(await extensionFindings(runtime, { isOffline: options.offline ?? false }))
  } finally {
    await runtime.close()
  }
  show(await programFindings(io))
  return failed ? EXIT.failed : EXIT.ok
}
