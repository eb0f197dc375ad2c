import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startModelServer, temporaryHome } from '@hermes/testkit'
import { context, metrics, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { expect, it, onTestFinished } from 'vitest'
import { openRuntime } from '../open-runtime.js'

/** An SDK as an operator has it. */
function startSdk() {
  const spans = new InMemorySpanExporter()
  const figures = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const meters = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter: figures })] })
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }))
  metrics.setGlobalMeterProvider(meters)
  onTestFinished(async () => {
    for (const api of [context, trace, metrics]) api.disable()
    await meters.shutdown()
  })
  const histograms = async () => {
    await meters.forceFlush()
    const all = figures
      .getMetrics()
      .at(-1)!
      .scopeMetrics.flatMap(({ metrics }) => metrics)
    return all.flatMap(({ descriptor, dataPoints }) =>
      dataPoints.map(({ attributes, value }) => ({
        name: descriptor.name,
        attributes,
        ...(value as { sum: number; count: number }),
      })),
    )
  }
  return { spans: () => spans.getFinishedSpans(), histograms }
}

/** The names of a span and of those it is part of, the outermost first. */
function pathOf(span: ReadableSpan, all: readonly ReadableSpan[]): string {
  const outer = all.find((other) => other.spanContext().spanId === span.parentSpanContext?.spanId)
  return `${outer ? `${pathOf(outer, all)} > ` : ''}${span.name}`
}

async function openWorld(platform: string) {
  const [home, server] = [await temporaryHome(), await startModelServer()]
  const config = { model: { default: 'm', base_url: server.baseUrl }, agent: { api_max_retries: 1 } }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify(config))
  const place = { home: home.path, userHome: home.path, cwd: home.path, tempDir: home.path, user: 'u' }
  const runtime = await openRuntime({ ...place, env: { PATH: process.env['PATH']! }, yolo: true })
  onTestFinished(async () => {
    await runtime.close()
    await server.close()
    await home.remove()
  })
  return { server, agent: (await runtime.createAgent({ platform })).agent }
}

it.each(['cli', 'gateway', 'acp'])(
  'tells an SDK of a run over %s with its calls, of children within the call that made them, and never what was said',
  async (platform) => {
    const sdk = startSdk()
    const { server, agent } = await openWorld(platform)
    const usage = { inputTokens: 1_000, outputTokens: 10, cacheReadTokens: 800 }
    server.setHandler(({ body }) => {
      const last = body.messages.at(-1)!
      const text = JSON.stringify(last.content)
      if (text.includes('Begin with SECRET'))
        return { usage, toolCalls: [{ name: 'read_file', args: { path: 'SECRET.txt' } }] }
      if (text.includes('SECRET.txt'))
        return { usage, toolCalls: [{ name: 'delegate_task', args: { goal: 'Look at SECRET.' } }] }
      return { usage, text: 'Done, SECRET.' }
    })
    expect(await agent.run('Begin with SECRET.').result).toMatchObject({ status: 'completed' })
    const spans = sdk.spans()
    const run = 'invoke_agent hermes'
    const child = `${run} > execute_tool delegate_task > ${run}`
    expect(spans.map((span) => pathOf(span, spans)).toSorted()).toEqual(
      [
        ...[run, `${run} > chat m`, `${run} > chat m`, `${run} > chat m`, `${run} > execute_tool read_file`],
        ...[`${run} > execute_tool delegate_task`, child, `${child} > chat m`],
      ].toSorted(),
    )
    const [chat, failed, whole] = ['chat m', 'execute_tool read_file', run].map((name) =>
      spans.find((span) => pathOf(span, spans) === (name === run ? run : `${run} > ${name}`)),
    )
    expect(chat!.attributes).toMatchObject({
      ...{ 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm', 'gen_ai.response.model': 'm' },
      ...{ 'gen_ai.usage.input_tokens': 1_000, 'gen_ai.usage.cache_read.input_tokens': 800 },
      'gen_ai.conversation.id': agent.sessionId,
    })
    expect(failed).toMatchObject({ attributes: { 'error.type': 'tool_error' }, status: { code: SpanStatusCode.ERROR } })
    expect(whole!.attributes).toMatchObject({ 'hermes.run.status': 'completed', 'hermes.platform': platform })
    const input = (await sdk.histograms()).find(({ attributes }) => attributes['gen_ai.token.type'] === 'input')!
    expect(input).toMatchObject({ name: 'gen_ai.client.token.usage', sum: 4_000, count: 4 })
    expect(
      JSON.stringify([spans.map(({ name, attributes, events }) => [name, attributes, events]), await sdk.histograms()]),
    ).not.toContain('SECRET')
  },
)

it('gives a call that failed its code, and the run too', async () => {
  const sdk = startSdk()
  const { server, agent } = await openWorld('oneshot')
  server.setHandler(() => ({ fault: 'status', status: 401, message: 'SECRET was refused' }))
  const { status, error } = await agent.run('Go.').result
  expect(status).toBe('failed')
  const spans = sdk.spans()
  expect(spans.map(({ name, status: { code } }) => [name, code])).toEqual([
    ['chat m', SpanStatusCode.ERROR],
    ['invoke_agent hermes', SpanStatusCode.ERROR],
  ])
  for (const { attributes } of spans) expect(attributes['error.type']).toBe(error!.code)
  const seconds = (await sdk.histograms()).find(({ name }) => name === 'gen_ai.client.operation.duration')!
  expect(seconds.attributes['error.type']).toBe(error!.code)
  expect(JSON.stringify(spans.map(({ attributes, events, status }) => [attributes, events, status]))).not.toContain(
    'SECRET',
  )
})
