import type { Message, TextPart } from '@hermes/contracts/conversation'
import type { ModelRequest } from '@hermes/contracts/model'

/** Of tools, in one request. */
const MOST = 20
/** So many of the oldest leave together, since what a provider keeps of a conversation is lost from the first of them on. */
const AT_ONCE = 10

const NOTE: TextPart = Object.freeze({
  type: 'text',
  text: '[An older picture was left out here: newer ones follow.]',
  origin: 'reminder',
})

/** The request without the oldest pictures that tools gave, where they are many. What a person sent stays. The same messages give the same bytes; nothing is changed in place. */
export function withoutOldPictures(request: ModelRequest): ModelRequest {
  // Runs over the whole conversation before each request, hence plain loops.
  let count = 0
  for (let at = 0; at < request.messages.length; at++) count += picturesIn(request.messages[at]!)
  if (count <= MOST) return request
  let left = Math.ceil((count - MOST) / AT_ONCE) * AT_ONCE
  const messages = request.messages.map((message) => {
    if (message.role !== 'tool' || left <= 0 || picturesIn(message) === 0) return message
    return { ...message, content: message.content.map((part) => (part.type === 'image' && left-- > 0 ? NOTE : part)) }
  })
  return { ...request, messages }
}

function picturesIn(message: Message): number {
  if (message.role !== 'tool') return 0
  let count = 0
  for (let at = 0; at < message.content.length; at++) if (message.content[at]!.type === 'image') count++
  return count
}
