import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyEdit } from './apply-edit.js'
import { LITERAL, SIMILAR } from './strategies.js'

const edit = (text: string, oldString: string, newString: string, replaceAll = false) =>
  applyEdit(text, { oldString, newString, replaceAll })

const edited = (text: string, strategy: string, replacements = 1) => ({ type: 'edited', text, replacements, strategy })

describe('exact', () => {
  it('replaces one place and leaves the rest', async () => {
    expect(await edit('a\nb\nc', 'b', 'x')).toEqual(edited('a\nx\nc', 'exact'))
    expect(await edit('a$b', '$', '$&$1')).toEqual(edited('a$&$1b', 'exact'))
  })

  it('changes nothing when there are several places, unless all are wanted', async () => {
    const outcome = await edit('a b a', 'a', 'x')
    expect(outcome).toMatchObject({ type: 'ambiguous', ranges: [{ start: 0 }, { start: 4 }] })
    expect(await edit('a b a', 'a', 'x', true)).toEqual(edited('x b x', 'exact', 2))
  })

  it('equals String.replace and String.replaceAll', async () => {
    const piece = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', '\t', '"', '’', '–'), maxLength: 12 })
    const search = piece.filter((text) => text.trim() !== '')
    await fc.assert(
      fc.asyncProperty(piece, search, piece, piece, async (before, oldString, after, newString) => {
        const text = before + oldString + after
        fc.pre(oldString !== newString && newString.length < 8)
        const outcome = await edit(text, oldString, newString, true)
        expect(outcome).toMatchObject({ type: 'edited', text: text.replaceAll(oldString, () => newString) })
        const single = await edit(text, oldString, newString)
        const isUnique = text.split(oldString).length === 2
        if (isUnique) expect(single).toMatchObject({ text: text.replace(oldString, () => newString) })
        else expect(single.type).toBe('ambiguous')
      }),
    )
  })
})

describe('line ends', () => {
  it('keeps CRLF where the file has it, also in mixed files', async () => {
    expect(await edit('a\r\nb\r\nc\r\n', 'a\nb', 'x\ny')).toEqual(edited('x\r\ny\r\nc\r\n', 'exact'))
    expect(await edit('a\nb\r\nc\n', 'c', 'x\ny')).toEqual(edited('a\nb\r\nx\ny\n', 'exact'))
    expect(await edit('a\r\nb\nc', 'a', 'x\ny')).toEqual(edited('x\r\ny\r\nb\nc', 'exact'))
    expect(await edit('a\r\nlast', 'last', 'x\ny')).toEqual(edited('a\r\nx\r\ny', 'exact'))
  })

  it('accepts CRLF in what is asked for', async () => {
    expect(await edit('a\nb\n', 'a\r\nb', 'x\r\ny')).toEqual(edited('x\ny\n', 'exact'))
  })

  it('leaves no lone CR behind where a match begins or ends at a line end', async () => {
    expect(await edit('a\r\nb\r\nc', '\nb', '')).toEqual(edited('a\r\nc', 'exact'))
    expect(await edit('a\r\nb\r\nc', 'b\n', '')).toEqual(edited('a\r\nc', 'exact'))
    expect(await edit('a\r\nb\r\nc', 'b', 'x')).toEqual(edited('a\r\nx\r\nc', 'exact'))
  })

  it('keeps every byte outside the match, whatever the line ends', async () => {
    const chunk = fc.string({ unit: fc.constantFrom('a', ' ', '\t', '\r\n', '\n', '\r', '…'), maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(chunk, chunk, async (before, after) => {
        const outcome = await edit(`${before}NEEDLE${after}`, 'NEEDLE', 'n')
        expect(outcome).toMatchObject({ type: 'edited', text: `${before}n${after}` })
      }),
    )
  })
})

describe('line-trimmed', () => {
  it('ignores whitespace at line ends and keeps it on lines that stay', async () => {
    const text = 'start\nif (x) {  \n  go()\t\n}\nend'
    expect(await edit(text, 'if (x) {\n  go()\n}', 'if (x) {\n  stop()\n}')).toEqual(
      edited('start\nif (x) {  \n  stop()\n}\nend', 'line-trimmed'),
    )
  })

  it('deletes whole lines together with their line end', async () => {
    expect(await edit('a\nb \nc', 'a\nb\n', '')).toEqual(edited('c', 'line-trimmed'))
  })
})

describe('indentation-flexible', () => {
  it('shifts the replacement by what was missing', async () => {
    const text = 'class A {\n    run() {\n        go()\n    }\n}\n'
    expect(await edit(text, 'run() {\n    go()\n}', 'run() {\n    if (x) {\n        go()\n    }\n}')).toEqual(
      edited(
        'class A {\n    run() {\n        if (x) {\n            go()\n        }\n    }\n}\n',
        'indentation-flexible',
      ),
    )
  })

  it('takes away indentation that the file does not have', async () => {
    expect(await edit('a()\n  b()\n', '  a()\n    b()', '  a()\n    c()')).toEqual(
      edited('a()\n  c()\n', 'indentation-flexible'),
    )
    expect((await edit('a()\n  b()\n', '  a()\n    b()', '  a()\nc()')).type).toBe('unsure')
  })

  it('changes spaces to tabs and back where the unit is plain', async () => {
    expect(await edit('\tif x:\n\t\tgo()\n', '  if x:\n    go()', '  if x:\n    while y:\n      go()')).toEqual(
      edited('\tif x:\n\t\twhile y:\n\t\t\tgo()\n', 'indentation-flexible'),
    )
    expect(await edit('    if x:\n        go()\n', '\tif x:\n\t\tgo()', '\tif x:\n\t\tstop()')).toEqual(
      edited('    if x:\n        stop()\n', 'indentation-flexible'),
    )
  })

  it('changes nothing when the indentation has no rule', async () => {
    const outcome = await edit('a:\n   b\n c\n', ' a:\n b\n  c', ' a:\n b\n  d')
    expect(outcome).toMatchObject({ type: 'unsure', strategy: 'indentation-flexible', line: 1 })
  })

  it('finds several places rather than the first one', async () => {
    const text = '  go()\n  end\n    go()\n    end\n'
    expect((await edit(text, 'go()\nend', 'stop()\nend')).type).toBe('ambiguous')
    expect(await edit(text, 'go()\nend', 'stop()\nend', true)).toEqual(
      edited('  stop()\n  end\n    stop()\n    end\n', 'indentation-flexible', 2),
    )
  })
})

describe('whitespace-normalised', () => {
  it('takes runs of spaces and tabs for one space', async () => {
    expect(await edit('  let  a =\t1\n  let b = 2\n', 'let a = 1\nlet b = 2', 'let a = 1\nlet b = 3')).toEqual(
      edited('  let  a =\t1\n  let b = 3\n', 'whitespace-normalised'),
    )
  })

  it('never changes several places', async () => {
    expect((await edit('x  = 1\ny\nx   = 1\n', 'x = 1', 'x = 2', true)).type).toBe('ambiguous')
  })

  it('does not take separate words for one', async () => {
    expect((await edit('foobar\n', 'foo bar', 'x')).type).toBe('not-found')
  })
})

describe('unicode-normalised', () => {
  it('finds typographic text by its plain form and keeps what stays', async () => {
    const text = 'He said “it’s fine” – really… and left.\n'
    const outcome = await edit(
      text,
      'He said "it\'s fine" - really... and left.',
      'He said "it\'s fine" - really... and stayed.',
    )
    expect(outcome).toEqual(edited('He said “it’s fine” – really… and stayed.\n', 'unicode-normalised'))
  })

  it('finds plain text by its typographic form', async () => {
    expect(await edit('say("hi")\n', 'say(“hi”)', 'say(“ho”)')).toMatchObject({ type: 'edited' })
  })

  it.each([
    ['one — two\n', 'one -- two', 'one -- three', 'one — three\n'],
    ['one – two\n', 'one -- two', 'one -- three', 'one – three\n'],
    ['one—two, 1–2\n', 'one--two, 1-2', 'one--two, 1-3', 'one—two, 1–3\n'],
    ['a -- b — c\n', 'a -- b -- c', 'a -- b -- d', 'a -- b — d\n'],
    ['one - two\n', 'one — two', 'one — three', 'one - three\n'],
  ])('takes -- for a dash of %j', async (text, oldString, newString, expected) => {
    expect(await edit(text, oldString, newString)).toEqual(edited(expected, 'unicode-normalised'))
  })

  it('never matches half an ellipsis', async () => {
    expect((await edit('wait…\n', 'wait.', 'stop!')).type).toBe('not-found')
  })
})

describe('escape-normalised', () => {
  it('takes one level of escaping off both strings', async () => {
    expect(await edit('print("a")\n\tend\n', '\\tend', '\\tprint(\\"b\\")')).toEqual(
      edited('print("a")\n\tprint("b")\n', 'escape-normalised'),
    )
  })

  it('never makes a line end out of an escaped one', async () => {
    expect((await edit('print("a")\nend\n', 'print(\\"a\\")\\nend', 'print(\\"b\\")\\nend')).type).toBe('unsure')
    expect(await edit('print("a")\nend\n', 'print(\\"a\\")\\nend', 'end')).toMatchObject({ text: 'end\n' })
  })

  it.each([
    ['\tprint("a\\n")\n', '\\tprint("a\\n")', '\\tprint("b\\n")', '\tprint("b\\n")\n', 'indentation-escaped'],
    ['\tif a:\n\t\tb()\n', '\\tif a:\n\t\tb()', '\\tif a:\n\t\tc()', '\tif a:\n\t\tc()\n', 'indentation-escaped'],
    ['f:\n\tx\n', 'f:\n\\tx', 'f:\n\ty', 'f:\n\ty\n', 'escape-normalised'],
  ])(
    'takes \\t at the beginning of lines of %j for a tab, whatever else is escaped',
    async (...[text, from, to, expected, strategy]) => {
      expect(await edit(text, from, to)).toEqual(edited(expected, strategy))
    },
  )

  it('takes no \\t for a tab where lines of the file begin so', async () => {
    expect((await edit('\\textbf{a}\n\tb\\n\n', '\\tb\\n', '\\tc\\n')).type).toBe('not-found')
  })

  it('changes nothing when only some of the text is escaped', async () => {
    expect((await edit('print("a")\n', 'print(\\"a\\")', 'print("b")')).type).toBe('unsure')
    expect((await edit('say("a", "b")\n', 'say(\\"a\\", "b")', 'x')).type).toBe('not-found')
  })
})

describe('already applied', () => {
  it('says so when the new text is there and the old one is not', async () => {
    expect(await edit('a\nconst x = 2\n', 'const x = 1', 'const x = 2')).toEqual({ type: 'already-applied', line: 2 })
    expect((await edit('a\nconst x = 2\n', 'const x = 1', 'x = 2')).type).toBe('not-found')
  })

  it('does not insert the same lines twice', async () => {
    const [oldString, newString] = ['import a\n', 'import a\nimport b\n']
    const once = await edit('import a\nrest\n', oldString, newString)
    expect(once).toEqual(edited('import a\nimport b\nrest\n', 'exact'))
    expect(await edit('import a\nimport b\nrest\n', oldString, newString)).toEqual({ type: 'already-applied', line: 1 })
  })
})

it('never reports an edit that leaves the text as it was', async () => {
  const line = fc.constantFrom('a', ' a', '  a ', '\ta', 'b  c', 'b c', '“q”', '"q"', '')
  const block = fc.array(line, { minLength: 1, maxLength: 4 }).map((lines) => lines.join('\n'))
  await fc.assert(
    fc.asyncProperty(block, block, block, async (text, oldString, newString) => {
      fc.pre(oldString.trim() !== '' && oldString !== newString)
      const outcome = await edit(text, oldString, newString)
      if (outcome.type === 'edited') expect(outcome.text).not.toBe(text)
    }),
  )
})

it('tries strict strategies before loose ones', () => {
  expect([...LITERAL, ...SIMILAR].map((strategy) => strategy.name)).toEqual([
    'exact',
    'line-trimmed',
    'indentation-flexible',
    'whitespace-normalised',
    'escape-normalised',
    'indentation-escaped',
    'trimmed-boundary',
    'unicode-normalised',
    'block-anchor',
    'context-aware',
  ])
})
