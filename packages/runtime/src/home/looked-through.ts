import { isJsonObject } from '@hermes/contracts'
import type { MetaStore } from '@hermes/storage'

/** What a session was looked through for: notes, or skills. */
type Looked = 'looked_through' | 'looked_back'

/** Only the newest sessions are ever looked at again. */
const KEPT = 50

/** Up to which entry a session was looked through for what should last; 0 when it never was. */
export async function seenTo(meta: MetaStore, looked: Looked, sessionId: string): Promise<number> {
  return (await readMarks(meta, looked)).find(([id]) => id === sessionId)?.[1] ?? 0
}

/** Notes that a session was looked through up to an entry. Two homes that note at once may lose one note: that costs one more look. */
export async function noteSeen(
  meta: MetaStore,
  looked: Looked,
  { sessionId, upToSeq }: { readonly sessionId: string; readonly upToSeq: number },
): Promise<void> {
  const others = (await readMarks(meta, looked)).filter(([id]) => id !== sessionId)
  await meta.set(looked, JSON.stringify(Object.fromEntries([...others, [sessionId, upToSeq]].slice(-KEPT))))
}

type Mark = readonly [sessionId: string, upToSeq: number]

async function readMarks(meta: MetaStore, looked: Looked): Promise<readonly Mark[]> {
  const marks = parse((await meta.get(looked)) ?? '{}')
  return isJsonObject(marks) ? Object.entries(marks).filter((mark): mark is [string, number] => isSeq(mark[1])) : []
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const isSeq = (value: unknown) => typeof value === 'number'
