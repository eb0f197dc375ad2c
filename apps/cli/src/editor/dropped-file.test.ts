import { expect, it } from 'vitest'
import { nameDropped } from './dropped-file.js'

it.each([
  ['/tmp/a shot.png', '@file:"/tmp/a shot.png" '],
  ["'/tmp/a shot.PNG' ", '@file:"/tmp/a shot.PNG" '],
  ['/tmp/a\\ shot.jpeg', '@file:"/tmp/a shot.jpeg" '],
  ['file:///tmp/a%20shot.webp', '@file:"/tmp/a shot.webp" '],
  ['~/cat.gif\n', '@file:"~/cat.gif" '],
])('names the image of a dropped %j', (pasted, named) => {
  expect(nameDropped(pasted)).toBe(named)
})

it.each(['/tmp/notes.txt', 'see /tmp/a.png', '/tmp/a.png\n/tmp/b.png', 'a.png', 'file:///tmp/%E0%A4%A.png', ''])(
  'leaves %j as it was pasted',
  (pasted) => expect(nameDropped(pasted)).toBe(pasted),
)
