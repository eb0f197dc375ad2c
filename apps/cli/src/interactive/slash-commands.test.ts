import { describe, expect, it } from 'vitest'
import { commandNames, parseLine } from './slash-commands.js'

describe('parseLine', () => {
  it.each([
    ['/title  A new name ', 'title', 'A new name'],
    ['/quit', 'exit', ''],
    ['/HELP', 'help', ''],
    ['/sess', 'sessions', ''],
    ['/steer first line\nsecond', 'steer', 'first line\nsecond'],
  ])('reads %j as /%s with %j', (line, name, args) => {
    expect(parseLine(line)).toMatchObject({ type: 'command', name, args })
  })

  it.each(['hello', '/etc/hosts is wrong', '/tmp is full', '/ alone', 'see /help'])(
    'leaves %j to the model',
    (line) => {
      expect(parseLine(line)).toEqual({ type: 'text' })
    },
  )

  it.each([
    ['/hlep', '/help'],
    ['/modle gpt', '/model'],
    ['/s', '/q'],
  ])('does not know %j and names the nearest', (line, nearest) => {
    expect(parseLine(line)).toMatchObject({ type: 'unknown', nearest })
  })

  it('knows each name once', () => {
    expect(new Set(commandNames()).size).toBe(commandNames().length)
  })
})
