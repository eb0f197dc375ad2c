// Whose a session is stands in its `user_id`, marked, since other programs write ids of chats there: those sessions are the owner's.

const MARK = 'person:'

/** `user_id` of a session. */
export function toUserId(person: string | null): string | null {
  return person === null ? null : `${MARK}${person}`
}

/** Whose a session is; `null` for the owner of the home. */
export function personOf(userId: string | null): string | null {
  return userId?.startsWith(MARK) ? userId.slice(MARK.length) : null
}

/** An expression that is {@link personKey} of whose a session is. */
export const personIn = (userId: string) =>
  `CASE WHEN substr(${userId}, 1, ${MARK.length}) = '${MARK}' THEN ${userId} ELSE '' END`

/** What {@link personIn} is for this person. */
export function personKey(person: string | null): string {
  return toUserId(person) ?? ''
}
