import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { errorLine, HermesError } from '@hermes/contracts'
import { type ChatOptions, withSkills } from '../chat-options.js'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { printable } from '../render/style.js'
import { readPipedInput } from '../stdin.js'

/** One answer when there is something to ask (`words`, a query or piped text), else a conversation. */
export async function chat(world: Io, input: ChatOptions, words: readonly string[] = []): Promise<number> {
  const io = input.in === undefined ? world : { ...world, cwd: await folderAt(world, input.in) }
  if (!input.worktree) return chatIn(io, input, words)
  return (await import('./worktree.js')).inWorktree(io, (there) => chatIn(there, withWholePaths(input, io.cwd), words))
}

async function chatIn(io: Io, input: ChatOptions, words: readonly string[]): Promise<number> {
  const ofFile =
    input.queryFile === undefined || input.queryFile === '-' ? undefined : await textAt(io, input.queryFile)
  const queries = [input.query, input.z, ofFile, words.length > 0 ? words.join(' ') : undefined]
  const [query, another] = queries.filter((one) => one !== undefined)
  if (another !== undefined) throw new UsageError(`There are two queries: "${query}" and "${another}". Give one.`)
  const whole = query === undefined || input.skills === undefined ? query : withSkills(input.skills, query)
  const options = whole === undefined ? input : { ...input, query: whole }
  if (options.batch !== undefined) return batched(io, options.batch, options)
  const piped = await readPipedInput(io)
  const interactive =
    options.query === undefined && piped === null && io.stdin.isTTY === true && !options.json && !options.accept
  if (interactive) return converse(io, options)
  const alone = options.query === undefined && piped !== null && input.skills ? withSkills(input.skills) : null
  return (await import('../oneshot.js')).oneshot(io, alone === null ? options : { ...options, query: alone }, piped)
}

/** Files that were named where the person is. */
function withWholePaths({ queryFile, batch, image, record, replay, ...rest }: ChatOptions, cwd: string): ChatOptions {
  const whole = (path: string) => resolve(cwd, path)
  return {
    ...rest,
    ...(queryFile === undefined ? {} : { queryFile: queryFile === '-' ? queryFile : whole(queryFile) }),
    ...(batch === undefined ? {} : { batch: whole(batch) }),
    ...(image === undefined ? {} : { image: image.map(whole) }),
    ...(record === undefined ? {} : { record: whole(record) }),
    ...(replay === undefined ? {} : { replay: whole(replay) }),
  }
}

async function batched(io: Io, file: string, options: ChatOptions): Promise<number> {
  const others = (['query', 'resume', 'continue', 'image', 'plan', 'accept', 'json', 'skills'] as const).filter(
    (name) => options[name] !== undefined,
  )
  if (others.length > 0) throw new UsageError(`--batch goes without --${others.join(' and --')}.`)
  return (await import('../batch.js')).batch(io, file, options)
}

async function folderAt({ cwd }: Io, path: string): Promise<string> {
  const folder = resolve(cwd, path)
  const found = await stat(folder).catch(() => null)
  if (!found?.isDirectory()) throw new UsageError(`--in: there is no folder ${folder}.`)
  return folder
}

async function textAt({ cwd }: Io, path: string): Promise<string> {
  return readFile(resolve(cwd, path), 'utf8').catch((error: unknown) => {
    throw new UsageError(`--query-file: ${errorLine(error)}`)
  })
}

/** A conversation; where no model is set up yet, that comes first. */
async function converse(io: Io, options: ChatOptions): Promise<number> {
  const { repl } = await import('../repl.js')
  try {
    return await repl(io, options)
  } catch (error) {
    if (!isWithoutModel(error, options) || !io.stdout.isTTY) throw error
    io.stdout.write(`${printable(errorLine(error))}\n`)
    const exitCode = await (await import('./setup.js')).setup(io, {}, '')
    return exitCode === EXIT.ok ? repl(io, options) : exitCode
  }
}

/** Whether nobody has chosen a model so far, neither now nor before. */
function isWithoutModel(error: unknown, { model, provider, baseUrl, replay }: ChatOptions): boolean {
  const isChosen = [model, provider, baseUrl, replay].some((choice) => choice !== undefined)
  return !isChosen && HermesError.isInstance(error) && /^models\.(?:no_key|no_model)$/.test(error.code)
}
