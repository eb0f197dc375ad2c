import type { ToolSource } from '@hermes/contracts/tool'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createToolRegistry } from '../tool-registry.js'

/** A source that offers at least one tool. */
interface ToolSourceSubject {
  readonly source: ToolSource
  /** Makes it offer something else from now on. */
  change(): void | Promise<void>
  /** Called after each case. */
  release?(): Promise<void>
}

/** The cases every source of tools passes; call it inside a `describe`. */
export function testToolSource(create: () => Promise<ToolSourceSubject>): void {
  const open = async () => {
    const subject = await create()
    onTestFinished(async () => subject.release?.())
    return subject
  }
  const added = ({ source }: ToolSourceSubject) => {
    const lines: string[] = []
    const registry = createToolRegistry({ logger: { warn: (line) => void lines.push(line) } })
    const { generation } = registry
    const registration = registry.addSource(source)
    onTestFinished(() => registration.dispose())
    const listed = (after: number) => vi.waitFor(() => expect(registry.generation).toBeGreaterThan(after))
    return { registry, registration, lines, listed, first: () => listed(generation + 1) }
  }

  it('offers tools that a registry takes, all of them', async () => {
    const subject = await open()
    const { registry, lines, first } = added(subject)
    await first()
    expect(lines).toEqual([])
    expect(registry.names()).not.toEqual([])
    for (const name of registry.names()) expect(registry.get(name)?.toolset).toBe(subject.source.name)
  })

  it('gives the same list as long as nothing changes', async () => {
    const { source } = await open()
    const bytes = async () =>
      JSON.stringify(
        (await source.list(AbortSignal.timeout(10_000))).map(({ name, description }) => ({ name, description })),
      )
    expect(await bytes()).toBe(await bytes())
  })

  it('says that it changed as long as somebody wants to know', async () => {
    const { source, change } = await open()
    let changes = 0
    const unsubscribe = source.onChange?.(() => void changes++)
    await change()
    if (source.onChange) await vi.waitFor(() => expect(changes).toBeGreaterThan(0))
    unsubscribe?.()
    const before = changes
    await change()
    expect(changes).toBe(before)
  })

  it('reaches a registry with every change, and leaves nothing there when it goes', async () => {
    const subject = await open()
    const { registry, registration, listed, first } = added(subject)
    await first()
    const { generation } = registry
    if (subject.source.onChange) {
      await subject.change()
      await listed(generation)
    }
    registration.dispose()
    expect(registry.names()).toEqual([])
    expect(Object.keys(registry.toolsets())).not.toContain(subject.source.name)
  })

  it('stops listing when nobody waits any more', async () => {
    const { source } = await open()
    const listed = Promise.resolve(source.list(AbortSignal.abort())).then(
      () => 'listed',
      () => 'stopped',
    )
    expect(['listed', 'stopped']).toContain(await listed)
  })
}
