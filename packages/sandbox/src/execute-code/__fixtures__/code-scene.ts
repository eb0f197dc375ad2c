import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import type { JsonObject } from '@hermes/contracts'
import type { ToolCaller, ToolDefinition, ToolOutcome } from '@hermes/contracts/tool'
import { missingPrograms } from '@hermes/testkit/daemons'
import { onTestFinished } from 'vitest'
import { codeFolderIn } from '../../local/code-folder.js'
import { processStartTime } from '../../processes/process-tree.js'
import { testPermit } from '../../testing/permit.js'
import { type CodeHostOptions, type CodeRequest, codeAction, createCodeHost } from '../index.js'

const definition = (name: string, ...names: readonly string[]): ToolDefinition => ({
  name,
  description: `Does ${name}.`,
  parameters: {
    type: 'object',
    properties: Object.fromEntries(names.map((one) => [one, {}])),
    required: names.slice(0, 1),
  },
})

const DEFINITIONS = [
  definition('read_file', 'path', 'offset', 'more'),
  definition('write_file', 'path', 'content'),
  definition('search_files', 'pattern'),
  definition('terminal', 'command', 'background', 'timeout', 'workdir', 'pty'),
  definition('vision_analyze', 'image'),
  definition('execute_code', 'code'),
]

type Answer = (
  name: string,
  args: JsonObject,
  signal: AbortSignal,
  onWait: (isWaiting: boolean) => void,
) => Promise<ToolOutcome> | ToolOutcome

/** What these tests lack on this machine; `null` when nothing. */
export const pythonMissing = missingPrograms('python3')

/** The variable PATH of programs, with the folder of the interpreter itself: finding it behind a manager of versions takes longer than a test. */
export const PATH = [...(pythonMissing === null ? [pythonFolder()] : []), '/usr/bin', '/bin'].join(delimiter)

function pythonFolder(): string {
  return dirname(execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim())
}

const ok = (data: JsonObject): ToolOutcome => ({ content: [], data, isError: false })

/** A host in folders of its own, with tools that tell what they were called with unless `answer` says otherwise. */
export async function codeScene(options: Partial<CodeHostOptions> & { readonly answer?: Answer } = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'hermes-code-test-'))
  const [tempDir, outputDir] = [join(directory, 't'), join(directory, 'outputs')]
  await mkdir(tempDir)
  const { answer = (tool, args) => ok({ tool, args }), ...rest } = options
  const env = { PATH, HOME: directory, OPENAI_API_KEY: 'sk-secret', MY_TOKEN: 'secret', FOO: 'bar' }
  const host = createCodeHost({ tempDir, outputDir, env, home: directory, workspace: directory, ...rest })
  onTestFinished(async () => {
    await host.close()
    await rm(directory, { recursive: true, force: true })
  })
  const calls: [string, JsonObject][] = []
  const tools: ToolCaller = {
    definitions: DEFINITIONS,
    async call(name, args, { signal = new AbortController().signal, onWait = () => undefined } = {}) {
      calls.push([name, args])
      return answer(name, args, signal, onWait)
    },
  }
  const progress: string[] = []
  const run = (language: CodeRequest['language'], code: string, more: Partial<CodeRequest> = {}) => {
    const request = { language, code, cwd: directory, sessionId: 's', tools, ...more }
    return host.run(testPermit(codeAction(request)), {
      signal: new AbortController().signal,
      progress: (text) => progress.push(text),
      ...request,
    })
  }
  const python = (code: string, more?: Partial<CodeRequest>) => run('python', code, more)
  const javascript = (code: string, more?: Partial<CodeRequest>) => run('javascript', code, more)
  const leftovers = () => readdir(codeFolderIn(tempDir)).catch(() => [])
  return { directory, tempDir, host, calls, progress, run, python, javascript, leftovers }
}

/** Whether a process of that number runs. */
export function isAlive(pid: number): boolean {
  return processStartTime(pid) !== null
}
