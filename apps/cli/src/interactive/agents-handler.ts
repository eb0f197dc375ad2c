import type { ChildInfo } from '@hermes/agent-core'
import { UsageError } from '../errors.js'
import { clip, printable } from '../render/style.js'
import { describeChild } from './child-lines.js'
import type { Talk } from './talk.js'

const USAGE = '/agents, /agents kill N, /agents pause [N], /agents resume [N], /agents steer N TEXT'

/** `/agents`: lists the delegated tasks; ends, holds, lets go or tells one something. */
export async function agents(talk: Talk, args: string): Promise<void> {
  const [verb = '', id = '', ...rest] = args.split(/\s+/).filter(Boolean)
  const { children } = talk.seat
  switch (verb) {
    case '':
      return list(talk)
    case 'kill':
      return talk.say(children.kill(known(talk, id)) ? `Task ${id} ends now.` : notRunning(id))
    case 'pause':
      return talk.say(children.pause(id || undefined) ? `${nameOf(id)} held before the next step.` : notRunning(id))
    case 'resume':
      return talk.say(children.unpause(id || undefined) ? `${nameOf(id)} going on.` : 'Nothing was held there.')
    case 'steer': {
      if (rest.length === 0) throw new UsageError('It needs some text: /agents steer 1 TEXT')
      const how = await children.steer(known(talk, id), rest.join(' '))
      return talk.say(how === null ? notRunning(id) : `Task ${id} was told${how === 'queued' ? ' too late' : ''}.`)
    }
    default:
      throw new UsageError(`"${verb}" is not known. Use: ${USAGE}`)
  }
}

function list(talk: Talk): void {
  const { seat, output, style } = talk
  const children = seat.children.list()
  if (children.length === 0) talk.say('No tasks were delegated in this conversation.')
  for (const child of children) {
    const line = clip(`${'  '.repeat(depthOf(child))}${printable(describeChild(child, Date.now()))}`, output.columns())
    output.write(`${child.endedAtMs === null ? line : style.dim(line)}\n`)
  }
}

function depthOf({ id }: ChildInfo): number {
  return id.split('.').length - 1
}

function known({ seat }: Talk, id: string): string {
  const ids = seat.children.list().map((child) => child.id)
  if (ids.includes(id)) return id
  throw new UsageError(`There is no task "${id}". There are: ${ids.join(', ') || 'none'}.`)
}

function notRunning(id: string): string {
  return `${id === '' ? 'Nothing' : `Task ${id}`} is not at work.`
}

function nameOf(id: string): string {
  return id === '' ? 'All tasks are' : `Task ${id} is`
}
