// A response is a run of a session: its id says which, so that any later process finds it in the log.

const ID = /^resp_([A-Za-z0-9_-]+)$/
const CONTENT = /^(\d+):([^\0]+)$/

/** Where a response begins: after the entry `afterSeq` of the session. */
export interface ResponsePlace {
  readonly sessionId: string
  readonly afterSeq: number
}

export function responseId({ sessionId, afterSeq }: ResponsePlace): string {
  return `resp_${Buffer.from(`${afterSeq}:${sessionId}`).toString('base64url')}`
}

/** `null` for what is no id of ours. */
export function responsePlace(id: string): ResponsePlace | null {
  const [, encoded = ''] = ID.exec(id) ?? []
  const [, afterSeq, sessionId] = CONTENT.exec(Buffer.from(encoded, 'base64url').toString()) ?? []
  return afterSeq === undefined || sessionId === undefined ? null : { sessionId, afterSeq: Number(afterSeq) }
}

const ITEM = /^[a-z]+_(.+)_\d+$/

/** An item of a response, by its kind and place there: clients may name it in place of what it says. */
export function itemId({ id }: { readonly id: string }, kind: string, index: number): string {
  return `${kind}_${id.slice('resp_'.length)}_${index}`
}

/** The response that an item is of; `null` for what is no item of ours. */
export function responseOfItem(id: string): string | null {
  const [, response] = ITEM.exec(id) ?? []
  return response === undefined ? null : `resp_${response}`
}
