import type { HookEvent, HookHandlers, RunEndEvent } from '@hermes/contracts/extension'
import {
  type Attributes,
  type Context,
  context,
  type Histogram,
  metrics,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { ofAgent, ofCall, ofError, ofFinish, ofRequest, ofTool, ofUsage } from './attributes.js'

type Event<Name extends keyof HookHandlers> = Parameters<HookHandlers[Name]>[0]

/** A run that has begun, and what its calls are part of. */
interface Begun {
  readonly span: Span
  readonly context: Context
}

/** Tells the SDK what happens. */
export interface Recorder {
  beginRun(event: HookEvent): void
  /** Passes the answer on; rejects as it does. */
  callModel(event: Event<'model-execution'>): Promise<undefined>
  /** Passes the result on; rejects as it does. */
  callTool(event: Event<'tool-execution'>): Promise<undefined>
  endRun(event: RunEndEvent): void
  /** Has the SDK send what it holds; gives up after five seconds. Never rejects. */
  flush(): Promise<void>
}

/** What the conventions give for tokens and for seconds. */
const TOKEN_STEPS = Array.from({ length: 14 }, (_, power) => 4 ** power)
const SECOND_STEPS = Array.from({ length: 14 }, (_, power) => 0.01 * 2 ** power)

const FLUSH_MS = 5_000

/** What SDKs add to what the API knows of. */
interface Provider {
  readonly getDelegate?: () => Provider
  readonly forceFlush?: () => Promise<void>
}

/** Takes who listens as it stands now. */
export function openRecorder({ version }: { readonly version: string }): Recorder {
  const meter = metrics.getMeter('hermes', version)
  return new SdkRecorder(
    trace.getTracer('hermes', version),
    meter.createHistogram('gen_ai.client.token.usage', {
      unit: '{token}',
      description: 'Tokens of one call of a model.',
      advice: { explicitBucketBoundaries: TOKEN_STEPS },
    }),
    meter.createHistogram('gen_ai.client.operation.duration', {
      unit: 's',
      description: 'Time of one call of a model or a tool.',
      advice: { explicitBucketBoundaries: SECOND_STEPS },
    }),
  )
}

class SdkRecorder implements Recorder {
  readonly #tracer: Tracer
  readonly #tokens: Histogram
  readonly #seconds: Histogram

  constructor(tracer: Tracer, tokens: Histogram, seconds: Histogram) {
    this.#tracer = tracer
    this.#tokens = tokens
    this.#seconds = seconds
  }

  beginRun(event: HookEvent): void {
    this.#run(event)
  }

  async callModel(event: Event<'model-execution'>): Promise<undefined> {
    const attributes = ofRequest(event)
    const name = `chat ${event.model.model}`
    await this.#measured({ event, name, kind: SpanKind.CLIENT, attributes }, async (span) => {
      const finish = await event.proceed()
      span.setAttributes(ofFinish(finish))
      const { inputTokens, outputTokens } = finish.usage
      const call = { ...ofCall(attributes), 'gen_ai.response.model': finish.stamp.model }
      this.#tokens.record(inputTokens, { ...call, 'gen_ai.token.type': 'input' })
      this.#tokens.record(outputTokens, { ...call, 'gen_ai.token.type': 'output' })
    })
  }

  async callTool(event: Event<'tool-execution'>): Promise<undefined> {
    const attributes = ofTool(event)
    const name = `execute_tool ${event.tool.name}`
    await this.#measured({ event, name, kind: SpanKind.INTERNAL, attributes }, async (span) => {
      const { isError } = await event.proceed()
      // What went wrong stands in the result, in words that may hold anything.
      if (isError) span.setAttribute('error.type', 'tool_error').setStatus({ code: SpanStatusCode.ERROR })
    })
  }

  endRun(event: RunEndEvent): void {
    const { span } = this.#run(event)
    span.setAttributes({ ...ofUsage(event.usage), 'hermes.run.status': event.status })
    if (event.error) span.setAttribute('error.type', event.error.code).setStatus({ code: SpanStatusCode.ERROR })
    span.end()
  }

  async flush(): Promise<void> {
    const providers = [trace.getTracerProvider(), metrics.getMeterProvider()] as readonly Provider[]
    const sent = Promise.allSettled(providers.map((one) => (one.getDelegate?.() ?? one).forceFlush?.()))
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, FLUSH_MS)
    })
    await Promise.race([sent, late])
    clearTimeout(timer)
  }

  /** The run of a child is part of the call that handed the task out. */
  #run(event: HookEvent): Begun {
    return event.perRun('telemetry.run', () => {
      const outer = context.active()
      const span = this.#tracer.startSpan('invoke_agent hermes', { attributes: ofAgent(event) }, outer)
      return { span, context: trace.setSpan(outer, span) }
    })
  }

  async #measured(
    call: {
      readonly event: HookEvent
      readonly name: string
      readonly kind: SpanKind
      readonly attributes: Attributes
    },
    work: (span: Span) => Promise<void>,
  ): Promise<void> {
    const { event, name, kind, attributes } = call
    const run = this.#run(event).context
    const span = this.#tracer.startSpan(name, { kind, attributes }, run)
    const startMs = performance.now()
    let failure: Attributes = {}
    try {
      await context.with(trace.setSpan(run, span), work, undefined, span)
    } catch (error) {
      failure = ofError(error, event.signal)
      span.setAttributes(failure).setStatus({ code: SpanStatusCode.ERROR })
      throw error
    } finally {
      this.#seconds.record((performance.now() - startMs) / 1_000, { ...ofCall(attributes), ...failure })
      span.end()
    }
  }
}
