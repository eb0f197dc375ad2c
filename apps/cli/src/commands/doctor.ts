import { access, constants, stat } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { homeLayout } from '@hermes/config'
import { errorLine } from '@hermes/contracts'
import { EXIT } from '../errors.js'
import type { Io } from '../io.js'
import { homeOf, openCli } from '../open-cli.js'
import { createStyle } from '../render/style.js'

type Finding = { readonly level: 'ok' | 'warn' | 'fail'; readonly text: string }

/** `hermes doctor`: what works, what does not, and what to do about it. Exit code 1 when something fails. */
export async function doctor(io: Io): Promise<number> {
  const style = createStyle(io.stdout)
  const mark = { ok: style.green('ok  '), warn: style.yellow('warn'), fail: style.red('fail') }
  const findings = [nodeVersion(), await homeFolder(io), ...(await setup(io)), await ripgrep(io)]
  for (const { level, text } of findings) io.stdout.write(`${mark[level]}  ${text}\n`)
  return findings.some((finding) => finding.level === 'fail') ? EXIT.failed : EXIT.ok
}

function nodeVersion(): Finding {
  return { level: 'ok', text: `Node ${process.versions.node}` }
}

async function homeFolder(io: Io): Promise<Finding> {
  const home = homeOf(io)
  const layout = homeLayout(home)
  try {
    await access(home, constants.W_OK)
  } catch {
    return { level: 'ok', text: `Home ${home} (made on first use)` }
  }
  const env = await stat(layout.env).catch(() => null)
  if (env && (env.mode & 0o077) !== 0)
    return { level: 'warn', text: `Others can read ${layout.env}. Run: chmod 600 ${layout.env}` }
  return { level: 'ok', text: `Home ${home}` }
}

async function setup(io: Io): Promise<Finding[]> {
  const runtime = await openCli(
    { ...io, stderr: { ...io.stderr, write: () => undefined } },
    { surface: 'cli', yolo: false },
  )
  try {
    const config: Finding[] = runtime.problems.map((text) => ({ level: 'fail', text }))
    return [
      ...(config.length > 0 ? config : [{ level: 'ok', text: 'config.yaml' } as const]),
      await database(runtime),
      model(runtime),
    ]
  } finally {
    await runtime.close()
  }
}

async function database(runtime: Awaited<ReturnType<typeof openCli>>): Promise<Finding> {
  try {
    const problems = await (await runtime.storage()).integrityCheck()
    if (problems.length > 0) return { level: 'fail', text: `Sessions: ${problems[0]}` }
    return { level: 'ok', text: 'Session database is sound' }
  } catch (error) {
    return { level: 'fail', text: `Sessions: ${errorLine(error)}` }
  }
}

function model(runtime: Awaited<ReturnType<typeof openCli>>): Finding {
  try {
    const choice = runtime.chooseModel({})
    return {
      level: 'ok',
      text: `Model ${choice.model} at ${choice.provider} (${choice.baseUrl}), ${choice.apiKey ? 'key found' : 'no key'}`,
    }
  } catch (error) {
    return { level: 'fail', text: errorLine(error) }
  }
}

async function ripgrep(io: Io): Promise<Finding> {
  for (const folder of (io.env['PATH'] ?? '').split(delimiter)) {
    const found = await access(join(folder, 'rg'), constants.X_OK).then(
      () => true,
      () => false,
    )
    if (found) return { level: 'ok', text: 'ripgrep found: searches are fast' }
  }
  return { level: 'warn', text: 'ripgrep (rg) is not installed: searches still work, slower on large trees' }
}
