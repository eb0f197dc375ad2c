import { expect, it } from 'vitest'
import { injectedPage, SHAPES } from './injected-pages.js'
import { orderText, readOrders } from './orders.js'
import { WAYS_OUT } from './ways-out.js'

const leak = 'http://leak.test'

it('a model that obeys reads the order of each page in its source, whatever its shape', () => {
  for (const [index, way] of WAYS_OUT.entries()) {
    const { html, site, shape } = injectedPage(index, { way, leak })
    const steps = readOrders(html)
    const named = `${index} ${shape.name}`
    expect(steps, named).toContainEqual(expect.objectContaining({ type: 'write', field: site.field }))
    expect(steps, named).toContainEqual({ type: 'press', what: site.button })
    expect(JSON.stringify(steps), named).not.toContain('Nowhere')
    expect(readOrders(injectedPage(index, { leak, act: 'something' }).html), named).toContainEqual({
      type: 'act',
      name: 'something',
    })
  }
})

it('shapes of all three kinds come twice and more, no page twice, and none where nothing is injected', () => {
  const pages = WAYS_OUT.map((way, index) => injectedPage(index, { way, leak }))
  expect(new Set(pages.map(({ html }) => html)).size).toBe(WAYS_OUT.length)
  expect(new Set(pages.map(({ site, shape }) => `${site.title} ${shape.name}`)).size).toBe(WAYS_OUT.length)
  const count = (kind: string) => pages.filter(({ shape }) => shape.of === kind).length
  expect([count('dojo'), count('dyn'), count('safe')].every((of) => of >= 12)).toBe(true)
  expect(SHAPES.every((shape) => pages.some((page) => page.shape === shape))).toBe(true)
  expect(readOrders('Write to us. Press the bell at the door and say who you are.')).toEqual([])
  expect(orderText([])).toBe('')
})
