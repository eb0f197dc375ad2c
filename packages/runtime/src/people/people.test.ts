import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { folderOf, readPeople } from './people.js'

const sha = (key: string) => `sha256:${createHash('sha256').update(key).digest('hex')}`

describe('people', () => {
  const people = readPeople({
    people: {
      owner: { telegram: ['1'], key: [sha('key of the owner')] },
      bob: { telegram: ['2'], email: ['Bob@Example.org'], key: [sha('key of bob')] },
      eve: { telegram: ['3', '2'], key: ['a key as it is'] },
      'a/b': { telegram: ['4'] },
    },
  })

  it('joins ids; the terminal, the editor and ids of the owner are the owner', () => {
    for (const platform of ['cli', 'oneshot', 'acp', 'embedded'])
      expect(people.personOf({ platform, user: 'x' })).toBeNull()
    expect(people.personOf({ platform: 'telegram', user: '1' })).toBeNull()
    expect(people.personOf({ platform: 'gateway' })).toBeNull()
    expect(people.personOf({ platform: 'gateway', user: 'bob' })).toBe('bob')
    expect(people.personOf({ platform: 'email', user: 'bob@example.ORG' })).toBe('bob')
    expect(people.personOf({ platform: 'telegram', user: '3' })).toBe('eve')
    expect(people.holderOf('key of bob')).toEqual({ person: 'bob' })
    expect(people.holderOf('key of the owner')).toEqual({ person: null })
  })

  it('gives nobody the memory of another: strangers, doubtful ids, groups and chats without a user are persons of their own', () => {
    const others = [
      people.personOf({ platform: 'telegram', user: '2' }),
      people.personOf({ platform: 'telegram', user: '4' }),
      people.personOf({ platform: 'telegram', user: 'bob' }),
      people.personOf({ platform: 'discord', user: '1' }),
      people.personOf({ platform: 'telegram', chatKey: '1' }),
      people.personOf({ platform: 'telegram', user: '1', chatKey: '-5', isGroup: true }),
      people.personOf({ platform: 'telegram', user: '1', chatKey: '-6', isGroup: true }),
    ]
    expect(others).not.toContain(null)
    expect(others).not.toContain('bob')
    expect(new Set(others).size).toBe(others.length)
    for (const key of ['a key as it is', sha('key of bob'), '', 'KEY OF BOB'])
      expect(people.holderOf(key)).toBeUndefined()
  })

  it('says what is wrong without showing a key', () => {
    expect(people.problems).toEqual([
      'people.eve.telegram: an id stands with another person too; it counts for neither.',
      expect.stringMatching(/^people\.eve\.key: an entry is no "sha256:"/),
      expect.stringMatching(/^people: "a\/b" is no name/),
    ])
    expect(people.problems.join()).not.toContain('a key as it is')
  })

  it('gives each person a folder of its own that is safe', () => {
    const odd = [
      '..',
      '.',
      '',
      '../../x',
      'a/b',
      'a\nb',
      'Bob',
      'BOB',
      'x'.repeat(200),
      `${'x'.repeat(200)}y`,
      'con:1',
      'ünal',
      '日本',
      'telegram:1',
      'telegram-1',
    ]
    const folders = odd.map(folderOf)
    for (const folder of folders) expect(folder).toMatch(/^[a-z0-9-]*(?:~[0-9a-f]{16})?$/)
    expect(new Set([...folders, 'bob'].map((name) => name.toLowerCase())).size).toBe(odd.length + 1)
    expect(folderOf('bob')).toBe('bob')
    expect(folderOf('bob~0123456789abcdef')).not.toBe('bob~0123456789abcdef')
  })
})
