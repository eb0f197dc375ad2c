import type { AudioPart, FilePart } from '@hermes/contracts/conversation'
import type { WireApi } from '@hermes/contracts/model'
import { takesDocument as anthropicTakes } from './anthropic-messages/wire-conversation.js'
import { takesDocument as bedrockTakes } from './bedrock-converse/wire-conversation.js'

/** Whether a wire has a form for a recording or a file of this type; its model may refuse it all the same. Pure. */
export function wireTakes(api: WireApi, part: Pick<AudioPart | FilePart, 'type' | 'mediaType'>): boolean {
  switch (api) {
    case 'chat-completions':
      return true
    case 'responses':
      return part.type === 'file'
    case 'anthropic-messages':
      return part.type === 'file' && anthropicTakes(part.mediaType)
    case 'bedrock-converse':
      return part.type === 'file' && bedrockTakes(part.mediaType)
    default:
      return api satisfies never
  }
}
