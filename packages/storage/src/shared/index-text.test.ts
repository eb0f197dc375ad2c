import { describe, expect, it } from 'vitest'
import { facetWord, pairs, splitUnspaced, toIndexText } from './index-text.js'

const message = {
  role: 'user',
  content: null,
  tool_name: null,
  tool_calls: null,
  session_id: '2026_a-b',
  source: 'cli',
}
const textOf = (content: string) => toIndexText({ ...message, content }).split(' \ue000')[0]

describe('toIndexText', () => {
  it('is text, tool name and calls, then role, source and session', () => {
    expect(toIndexText({ ...message, content: 'Hello', tool_name: 'look', tool_calls: '[{}]' })).toBe(
      'Hello\nlook\n[{}] \ue000user \ue001cli \ue0022026ab',
    )
  })

  it('pairs up neighbouring characters of scripts without blanks', () => {
    expect(textOf('见 docker部署失败。')).toBe(' 见 见  docker 部署 署失 失败 败 。')
    expect(textOf('哈哈哈')).toBe(' 哈哈 哈哈 哈 ')
    expect(textOf('𠮷野')).toBe(' 𠮷野 野 ')
  })

  it('pairs up a hundred thousand of them in a message, and leaves the words around the rest', () => {
    const words = textOf(`begin ${'漢字'.repeat(200_000)} 部署 end`)!
    expect(words).toMatch(/^begin {2}漢字 字漢 .* end$/)
    expect(words.match(/漢字/g)).toHaveLength(50_000)
    expect(words).not.toContain('部署')
  })

  it('adds the parts of names once', () => {
    expect(textOf('getUserById, getUserById and parseHTML2Text')).toBe(
      'getUserById, getUserById and parseHTML2Text get User By Id parse HTML 2 Text',
    )
    expect(textOf('Plain Words ONLY')).toBe('Plain Words ONLY')
  })

  it('lets no text pass for a facet', () => {
    expect(textOf('\ue000user')).toBe(' user')
  })
})

describe('facetWord', () => {
  it('is one word whatever the value', () => {
    expect(facetWord('session', '20260101_00:00 "x"*')).toBe('\ue002202601010000x')
    expect(facetWord('source', '')).toBe('\ue001')
  })
})

describe('pairs and splitUnspaced', () => {
  it('leave single characters and other scripts alone', () => {
    expect(pairs('部')).toEqual(['部'])
    expect(pairs('部署失')).toEqual(['部署', '署失'])
    expect(splitUnspaced('docker部署 k8s')).toEqual(['docker', '部署', ' k8s'])
  })
})
