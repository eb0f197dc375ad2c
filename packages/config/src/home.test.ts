import { describe, expect, it } from 'vitest'
import { defaultHome, homeLayout } from './index.js'

describe('defaultHome', () => {
  it.each([
    [undefined, '/u/.hermes'],
    ['', '/u/.hermes'],
    ['~', '/u'],
    ['~/x/', '/u/x'],
    ['/a/./b', '/a/b'],
    ['/', '/'],
  ])('turns %s into %s', (named, expected) => {
    expect(defaultHome({ env: { HERMES_HOME: named }, userHome: '/u' })).toBe(expected)
  })

  it.each(['here', './x', '~user/x'])('refuses the relative path %s', (named) => {
    expect(() => defaultHome({ env: { HERMES_HOME: named }, userHome: '/u' })).toThrow(
      expect.objectContaining({ code: 'config.bad_home' }),
    )
  })
})

describe('homeLayout', () => {
  it('puts everything inside the home', () => {
    const layout = homeLayout('/h')
    expect(layout).toMatchObject({ config: '/h/config.yaml', outputs: '/h/cache/terminal', stateDb: '/h/state.db' })
    for (const path of Object.values(layout)) expect(path.startsWith('/h/')).toBe(true)
  })
})
