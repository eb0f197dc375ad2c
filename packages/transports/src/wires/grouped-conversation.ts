import type {
  AssistantPart,
  EndpointStamp,
  FilePart,
  ImagePart,
  Message,
  ToolCallPart,
  ToolMessage,
  UserPart,
} from '@hermes/contracts/conversation'
import { repairConversation } from '@hermes/contracts/conversation'

/** How a wire writes the parts of a conversation in which user and assistant take turns. `null`: the model takes none of this type. */
interface BlockForms<Block, Text extends Block> {
  readonly text: (text: string) => Text
  readonly image: (image: ImagePart) => Block | null
  readonly file: (file: FilePart) => Block | null
  readonly call: (call: ToolCallPart) => Block
  /** A thought that the endpoint itself sent, from what was kept of it. */
  readonly thought: (kept: object) => Block
  readonly result: (message: ToolMessage, blocks: readonly Block[]) => readonly Block[]
  /** The blocks of a message of the user as they have to stand. Default: as they are. */
  readonly userBlocks?: (blocks: readonly Block[]) => readonly Block[]
}

/** A conversation as such a wire has it. */
export interface GroupedConversation<Block, Text extends Block> {
  readonly system: Text[]
  readonly messages: { readonly role: 'user' | 'assistant'; readonly content: Block[] }[]
}

/**
 * A conversation in which user and assistant take turns, made valid first. Pure and byte-stable: a longer conversation gives the same
 * messages plus more, only the last one may gain blocks at its end. Results, and what the user says after them, make one message.
 * Thoughts go back, untouched and in their place, only to the endpoint in `stamp`.
 */
export function groupConversation<Block, Text extends Block>(
  messages: readonly Message[],
  stamp: EndpointStamp,
  forms: BlockForms<Block, Text>,
): GroupedConversation<Block, Text> {
  const writer = new BlockWriter(stamp, forms)
  const system: Text[] = []
  const wire: { role: 'user' | 'assistant'; content: Block[] }[] = []
  const fromUser = (blocks: readonly Block[]) => {
    const last = wire.at(-1)
    if (last?.role === 'user') last.content.push(...blocks)
    else wire.push({ role: 'user', content: [...blocks] })
  }
  for (const message of repairConversation(messages, { endWithUser: true })) {
    switch (message.role) {
      case 'system':
        system.push(...message.content.flatMap((part) => writer.text(part.text)))
        break
      case 'user': {
        const blocks = message.content.flatMap((part) => writer.userPart(part))
        fromUser(orText(forms.userBlocks?.(blocks) ?? blocks, forms.text('(empty)')))
        break
      }
      case 'assistant': {
        if (wire.length === 0) fromUser([forms.text('(continue)')])
        const blocks = message.content.flatMap((part) => writer.assistantPart(part))
        wire.push({ role: 'assistant', content: [...orText(blocks, forms.text('(empty)'))] })
        break
      }
      case 'tool': {
        const blocks = message.content.flatMap((part) => writer.userPart(part))
        fromUser(forms.result(message, orText(blocks, forms.text('(no output)'))))
        break
      }
      default:
        message satisfies never
    }
  }
  return { system, messages: wire }
}

/** Servers refuse messages without a block. */
function orText<Block>(blocks: readonly Block[], text: Block): readonly Block[] {
  return blocks.length === 0 ? [text] : blocks
}

class BlockWriter<Block, Text extends Block> {
  readonly #stamp: EndpointStamp
  readonly #forms: BlockForms<Block, Text>

  constructor(stamp: EndpointStamp, forms: BlockForms<Block, Text>) {
    this.#stamp = stamp
    this.#forms = forms
  }

  /** Servers refuse blocks without a visible character. */
  text(text: string): Text[] {
    return text.trim() === '' ? [] : [this.#forms.text(text)]
  }

  userPart(part: UserPart): Block[] {
    switch (part.type) {
      case 'text':
        return this.text(part.text)
      case 'image':
        return [this.#forms.image(part) ?? this.#noneOf(`An image (${part.mediaType})`)]
      case 'file':
        return [this.#forms.file(part) ?? this.#noneOf(`The file ${part.name ?? ''} (${part.mediaType})`)]
      case 'audio':
        return [this.#forms.text(`(An audio recording (${part.mediaType}) was here; this model takes none.)`)]
      default:
        return part satisfies never
    }
  }

  assistantPart(part: AssistantPart): Block[] {
    switch (part.type) {
      case 'text':
        return this.text(part.text)
      case 'reasoning': {
        const { replay } = part
        if (!replay || replay.data === null || !sameStamp(replay.stamp, this.#stamp)) return []
        return [this.#forms.thought(replay.data as object)]
      }
      case 'tool-call':
        return [this.#forms.call(part)]
      default:
        return part satisfies never
    }
  }

  #noneOf(what: string): Text {
    return this.#forms.text(`(${what} was here; this model takes none of this type.)`)
  }
}

/** Whether what one endpoint made may go back to the other. */
export function sameStamp(left: EndpointStamp, right: EndpointStamp): boolean {
  return (
    left.provider === right.provider &&
    left.endpoint === right.endpoint &&
    left.model === right.model &&
    left.account === right.account
  )
}
