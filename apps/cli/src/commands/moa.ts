import { errorLine, isAbort, isJsonObject } from '@hermes/contracts'
import { messageText, userText } from '@hermes/contracts/conversation'
import { askModel } from '@hermes/models'
import type { ReferenceOutcome } from '@hermes/models/mixture'
import type { MixtureChoice, Runtime } from '@hermes/runtime'
import { checkModel } from '../check-model.js'
import { EXIT } from '../errors.js'
import type { Io } from '../io.js'
import { withRuntime } from '../open-cli.js'
import { clip, createStyle, printable } from '../render/style.js'

const NONE = 'There is none. Make one: hermes moa add NAME -r PROVIDER/MODEL -r PROVIDER/MODEL -a PROVIDER/MODEL\n'

/** A preset as lists show it. */
interface Preset {
  readonly name: string
  readonly isDefault: boolean
  readonly references: readonly string[]
  readonly aggregator: string | null
  /** What keeps it from being used; `null` when nothing does. */
  readonly problem: string | null
}

/** `hermes moa list`: exit code 1 when one of the presets cannot be used. */
export function moaList(io: Io, { json }: { readonly json?: boolean }): Promise<number> {
  return withRuntime(io, async (runtime) => {
    const { presets, default_preset } = runtime.config.moa
    const all = Object.keys(presets).map((name): Preset => {
      const parts = partsOf(presets[name])
      return { name, isDefault: name === default_preset, ...parts, problem: problemOf(runtime, name) }
    })
    if (json) io.stdout.write(`${JSON.stringify(all)}\n`)
    else if (all.length === 0) io.stderr.write(NONE)
    else for (const preset of all) io.stdout.write(`${clip(describe(preset), Math.max(40, io.stdout.columns()))}\n`)
    if (!json) for (const { name, problem } of all) if (problem) io.stderr.write(`hermes: ${name}: ${problem}\n`)
    return all.some(({ problem }) => problem !== null) ? EXIT.failed : EXIT.ok
  })
}

function describe({ name, isDefault, references, aggregator }: Preset): string {
  return `${name}${isDefault ? ' (default)' : ''}: ${references.join(', ')} → ${aggregator ?? 'the chosen model'}`
}

/** The models of a preset as config.yaml names them. */
function partsOf(entry: unknown): Pick<Preset, 'references' | 'aggregator'> {
  const { reference_models: listed, aggregator } = isJsonObject(entry) ? entry : {}
  return {
    references: Array.isArray(listed) ? listed.map(nameOf) : [],
    aggregator: aggregator === undefined ? null : nameOf(aggregator),
  }
}

function nameOf(entry: unknown): string {
  if (!isJsonObject(entry)) return '?'
  const { provider, model } = entry
  return [provider, model].filter((part) => typeof part === 'string').join('/') || '?'
}

function problemOf(runtime: Runtime, preset: string): string | null {
  try {
    runtime.chooseMixture(preset)
    return null
  } catch (error) {
    return errorLine(error)
  }
}

/** `hermes moa show [PRESET]`: every model with where it is asked, and what is missing; exit code 1 when something is. */
export function moaShow(io: Io, wanted: string | undefined, { json }: { readonly json?: boolean }): Promise<number> {
  return withRuntime(io, async (runtime) => {
    const mixture = runtime.chooseMixture(wanted)
    const models = modelsOf(mixture).map(({ role, provider, model, baseUrl }) => {
      return { role, provider, model, baseUrl, problem: checkModel(runtime, { provider, model, baseUrl }) }
    })
    if (json) io.stdout.write(`${JSON.stringify({ preset: mixture.preset, models })}\n`)
    else
      for (const { role, provider, model, baseUrl, problem } of models)
        io.stdout.write(`${role.padEnd(10)}  ${provider}/${model}  ${baseUrl}${problem ? `  ${problem}` : ''}\n`)
    return models.some(({ problem }) => problem !== null) ? EXIT.failed : EXIT.ok
  })
}

function modelsOf({ references, aggregator }: MixtureChoice) {
  return [...references.map((choice) => ({ role: 'asked', ...choice })), { role: 'answers', ...aggregator }]
}

/** Flags of `hermes moa try`. */
interface TryFlags {
  readonly preset?: string
  readonly full?: boolean
  readonly json?: boolean
}

/** `hermes moa try QUESTION`: what each model said on standard error, the answer on standard output. */
export function moaTry(io: Io, question: string, { preset, full, json }: TryFlags): Promise<number> {
  return withRuntime(io, async (runtime) => {
    const controller = new AbortController()
    const stopListening = io.onInterrupt(() => controller.abort())
    const text: ReferenceOutcome[] = []
    const onReference = (outcome: ReferenceOutcome) => {
      text.push(outcome)
      if (!json) io.stderr.write(outcomeText(io, outcome, full ?? false))
    }
    try {
      const client = await runtime.mixture({ preset, onReference })
      const request = { messages: [userText(question)], tools: [] }
      const { message, usage } = await askModel(client, request, { purpose: 'moa', signal: controller.signal })
      const answer = messageText(message)
      const result = { preset: client.model, references: text, answer, usage }
      io.stdout.write(json ? `${JSON.stringify(result)}\n` : `${printable(answer)}\n`)
      return EXIT.ok
    } catch (error) {
      if (!isAbort(error)) throw error
      return EXIT.interrupted
    } finally {
      stopListening()
    }
  })
}

function outcomeText(io: Io, { provider, model, text, error }: ReferenceOutcome, full: boolean): string {
  const style = createStyle(io.stderr)
  const name = `${provider}/${model}`
  if (text === null) return `${style.red('✗')} ${name}: ${printable(error ?? 'no answer')}\n`
  if (full) return `${style.green('✓')} ${style.bold(name)}\n${printable(text.trim())}\n\n`
  return `${style.green('✓')} ${name}: ${style.dim(clip(text, Math.max(40, io.stderr.columns() - name.length - 4)))}\n`
}
