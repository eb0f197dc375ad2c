import type { ExtensionRegistry } from '@hermes/agent-core'
import { type Clock, errorLine } from '@hermes/contracts'
import type { PromptSection, PromptSectionContext } from '@hermes/contracts/extension'

const RENDER_WITHIN_MS = 30_000
const BETWEEN = '\n\n'

/** Texts for the system text, and what was left out of it. */
interface RenderedSections {
  readonly sections: readonly { readonly source: string; readonly text: string }[]
  readonly problems: readonly string[]
}

/** Renders what extensions add to the system text of one session, at most `maxBytes` together; the first ones have their place first. */
export async function renderPromptSections(
  registry: Pick<ExtensionRegistry, 'list'>,
  context: PromptSectionContext,
  { maxBytes, clock }: { readonly maxBytes: number; readonly clock: Clock },
): Promise<RenderedSections> {
  const registered = registry.list('section').toSorted(({ item: a }, { item: b }) => (a.order ?? 0) - (b.order ?? 0))
  const texts = await Promise.allSettled(registered.map(({ item }) => withinTime(item, context, clock)))
  const sections: { source: string; text: string }[] = []
  const problems: string[] = []
  let left = maxBytes
  for (const [index, { owner, item }] of registered.entries()) {
    const source = `${item.name} of the extension ${owner}`
    const rendered = texts[index]!
    if (rendered.status === 'rejected') problems.push(`${source} is left out: ${errorLine(rendered.reason)}`)
    else if (rendered.value !== undefined && rendered.value.trim() !== '') {
      const room = Math.max(0, left - (sections.length > 0 ? BETWEEN.length : 0))
      const text = cutToBytes(rendered.value.trim(), Math.min(room, item.maxBytes ?? room))
      if (text.length < rendered.value.trim().length)
        problems.push(`${source} was cut to ${Buffer.byteLength(text)} bytes.`)
      if (text === '') continue
      sections.push({ source, text })
      left = room - Buffer.byteLength(text)
    }
  }
  return { sections, problems }
}

async function withinTime({ render }: PromptSection, context: PromptSectionContext, clock: Clock) {
  const ended = new AbortController()
  const late = clock.sleep(RENDER_WITHIN_MS, ended.signal).then(() => {
    throw new Error(`it took longer than ${RENDER_WITHIN_MS} ms.`)
  })
  try {
    const text: unknown = await Promise.race([render(context), late])
    if (text === undefined || typeof text === 'string') return text
    throw new TypeError('it is no text.')
  } finally {
    late.catch(() => undefined)
    ended.abort()
  }
}

/** The beginning of a text, cut between two characters. */
function cutToBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text)
  return bytes.length <= maxBytes ? text : new TextDecoder().decode(bytes.subarray(0, maxBytes), { stream: true })
}
