// Rows of a terminal as an SVG.
const [CELL, LINE, MARGIN, BAR] = [8.4, 19, 18, 34]
const [PAPER, INK] = ['#16181d', '#d7dae0']
const FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
/** Black to white, then the same bright. */
const COLOURS = [
  ...['#484f58', '#ff7b72', '#7ee787', '#e3b341', '#79c0ff', '#d2a8ff', '#76e3ea', '#d7dae0'],
  ...['#6e7681', '#ffa198', '#aff5b4', '#f2cc60', '#a5d6ff', '#e2c5ff', '#b3f0ff', '#ffffff'],
]
/** Shades of the 6 by 6 by 6 colours behind those. */
const SHADES = [0, 95, 135, 175, 215, 255]

/**
 * @param {readonly string[]} rows with their colours as escape sequences, as tmux captures them
 * @param {{ columns: number, title: string, height?: number }} options `height` in rows; default: as many as there are
 * @returns {string} the picture
 */
export function drawScreen(rows, { columns, title, height = rows.length }) {
  const size = [columns * CELL + 2 * MARGIN, height * LINE + BAR + MARGIN]
  let style = {}
  const shapes = rows.flatMap((row, index) => {
    const read = readRow(row, style)
    style = read.style
    // Each run of one style is a text of its own at its column, so that fonts of other widths do not shift what follows.
    return read.runs.flatMap((run) => drawRun(run, BAR + index * LINE))
  })
  const dots = ['#ff5f57', '#febc2e', '#28c840'].map(
    (fill, index) => `<circle cx="${MARGIN + 6 + index * 20}" cy="17" r="6" fill="${fill}"/>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size[0].toFixed(1)} ${size[1]}" role="img">
<title>${escapeXml(title)}</title>
<rect width="100%" height="100%" rx="10" fill="${PAPER}"/>
${dots.join('')}
<g xml:space="preserve" style="white-space:pre" font-family="${FONT}" font-size="14" fill="${INK}">
${shapes.join('\n')}
</g>
</svg>
`
}

function drawRun({ text, column, style }, top) {
  const [front, back] = style.inverse ? [style.back ?? PAPER, style.front ?? INK] : [style.front, style.back]
  const shapes = []
  const left = (at) => (MARGIN + at * CELL).toFixed(1)
  if (back)
    shapes.push(
      `<rect x="${left(column)}" y="${top}" width="${(cells(text) * CELL).toFixed(1)}" height="${LINE}" fill="${back}"/>`,
    )
  const words = text.trim()
  if (words === '') return shapes
  const attributes = [
    `x="${left(column + /^ */.exec(text)[0].length)}" y="${top + LINE - 5}" textLength="${(cells(words) * CELL).toFixed(1)}"`,
    style.bold && 'font-weight="bold"',
    style.dim && 'opacity="0.6"',
    style.italic && 'font-style="italic"',
    style.underline && 'text-decoration="underline"',
    front && `fill="${front}"`,
  ]
  shapes.push(`<text ${attributes.filter(Boolean).join(' ')}>${escapeXml(words)}</text>`)
  return shapes
}

/** A row cut where its style changes; a style goes on into the next row, as tmux has it. */
function readRow(row, before) {
  const runs = []
  let [column, style] = [0, before]
  for (const [, codes, text] of row.matchAll(/\u001B\[([\d;:]*)m|\u001B[^m]|([^\u001B]+)/g)) {
    if (codes !== undefined) style = restyle(style, codes)
    // Several blanks would be drawn as one, and what is around them as wide as all of it.
    for (const part of text?.split(/(?<=[^ ] {2,})(?=[^ ])/) ?? []) {
      runs.push({ text: part, column, style })
      column += cells(part)
    }
  }
  return { runs, style }
}

function restyle(before, codes) {
  let style = before
  const left = (codes || '0').split(/[;:]/).map(Number)
  while (left.length > 0) {
    const code = left.shift()
    if (code === 0) style = {}
    else if (code === 1) style = { ...style, bold: true }
    else if (code === 2) style = { ...style, dim: true }
    else if (code === 3) style = { ...style, italic: true }
    else if (code === 4) style = { ...style, underline: true }
    else if (code === 7) style = { ...style, inverse: true }
    else if (code === 22) style = { ...style, bold: false, dim: false }
    else if (code === 23) style = { ...style, italic: false }
    else if (code === 24) style = { ...style, underline: false }
    else if (code === 27) style = { ...style, inverse: false }
    else if (code === 38) style = { ...style, front: longColour(left) }
    else if (code === 48) style = { ...style, back: longColour(left) }
    else if (code === 39) style = { ...style, front: undefined }
    else if (code === 49) style = { ...style, back: undefined }
    else if (code >= 30 && code < 38) style = { ...style, front: COLOURS[code - 30] }
    else if (code >= 40 && code < 48) style = { ...style, back: COLOURS[code - 40] }
    else if (code >= 90 && code < 98) style = { ...style, front: COLOURS[code - 82] }
    else if (code >= 100 && code < 108) style = { ...style, back: COLOURS[code - 92] }
  }
  return style
}

/** Takes what follows 38 or 48: one of 256, or red, green and blue. */
function longColour(left) {
  if (left.shift() === 2) return hex(left.splice(0, 3))
  const index = left.shift()
  if (index < 16) return COLOURS[index]
  if (index >= 232) return hex(Array(3).fill(8 + (index - 232) * 10))
  const place = index - 16
  return hex([Math.floor(place / 36), Math.floor(place / 6) % 6, place % 6].map((shade) => SHADES[shade]))
}

function hex(shades) {
  return `#${shades.map((shade) => shade.toString(16).padStart(2, '0')).join('')}`
}

/** How many columns a text takes. */
function cells(text) {
  return [...text].reduce((sum, letter) => sum + (/\p{Emoji_Presentation}|\p{sc=Han}/u.test(letter) ? 2 : 1), 0)
}

function escapeXml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
