import type { ToolDefinition } from '../tool.js'
import type { Message } from './message.js'

const BYTES_PER_TOKEN = 4
const WIDE = /[\u2e80-\uffff]/
const WIDE_CHARACTER_TOKENS = 0.8
const MESSAGE_OVERHEAD_TOKENS = 4
const IMAGE_TOKENS = 1_000
/** Of base64: a second of compressed speech is some ten to thirty tokens. */
const AUDIO_CHARS_PER_TOKEN = 600
/** Of base64, for files that a server reads itself, such as a PDF: a page has some two thousand. */
const FILE_CHARS_PER_TOKEN = 40

/**
 * A cheap estimate of how many tokens `input` costs, good to about a fifth for English text and code.
 * Counts four Latin characters per token and nearly one token per CJK character; images a flat thousand,
 * recordings and files that are no text by what is usual of their size.
 */
export function estimateTokens(input: string | Message | readonly Message[] | readonly ToolDefinition[]): number {
  if (typeof input === 'string') return estimateText(input)
  if (Array.isArray(input)) {
    let total = 0
    for (const item of input as readonly (Message | ToolDefinition)[]) {
      total += 'role' in item ? estimateMessage(item) : estimateText(JSON.stringify(item))
    }
    return total
  }
  return estimateMessage(input as Message)
}

function estimateText(text: string): number {
  if (!WIDE.test(text)) return Math.ceil(text.length / BYTES_PER_TOKEN)
  let wide = 0
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) >= 0x2e80) wide++
  return Math.ceil((text.length - wide) / BYTES_PER_TOKEN + wide * WIDE_CHARACTER_TOKENS)
}

function isPlain(mediaType: string): boolean {
  return mediaType.startsWith('text/') || mediaType === 'application/json'
}

function estimateMessage(message: Message): number {
  let total = MESSAGE_OVERHEAD_TOKENS
  for (const part of message.content) {
    switch (part.type) {
      case 'text':
      case 'reasoning':
        total += estimateText(part.text)
        break
      case 'tool-call':
        total += estimateText(part.name) + estimateText(part.rawArgs)
        break
      case 'image':
        total += IMAGE_TOKENS
        break
      case 'audio':
        total += Math.ceil(part.data.length / AUDIO_CHARS_PER_TOKEN)
        break
      case 'file':
        total += Math.ceil(part.data.length / (isPlain(part.mediaType) ? BYTES_PER_TOKEN : FILE_CHARS_PER_TOKEN))
        break
      default:
        part satisfies never
    }
  }
  return total
}
