import { expect, it } from 'vitest'
import { changesMakeRuns, makeIncludes } from './make-includes.js'

it.each<readonly [text: string, folder: string, expected: readonly string[]]>([
  ['include build/common.mk', '', ['build/common.mk']],
  ['-include local.mk # mine', 'app', ['app/local.mk']],
  ['  sinclude a.mk \\\n  b.mk', '', ['a.mk', 'b.mk']],
  ['M = a.mk\nM += b.mk c.mk\ninclude $(M)', '', ['a.mk', 'b.mk', 'c.mk']],
  ['ifdef X\nM := a\nelse\nM := b\nendif\ninclude $(M)/x.mk', '', ['a/x.mk', 'b/x.mk']],
  ['ifdef X\n include ../build/x.mk\nendif', 'packages/a', ['packages/build/x.mk']],
  ['TOP := ../..\ninclude $(TOP)/rules/*.mk', 'packages/a', ['rules/*.mk']],
  ['include ${CURDIR}/x.mk', 'a', ['a/x.mk']],
  ['include $(wildcard conf/[ab].mk)', '', ['conf/?.mk']],
  ['include $(shell git rev-parse --show-toplevel)/ci/x.mk', 'a', ['a/ci/x.mk', 'ci/x.mk']],
  ['include rules/$(OS).mk', '', ['rules/*.mk']],
  ['include .env\r\nexport', '', ['.env']],
])('%s includes what it names', (text, folder, expected) => {
  expect(makeIncludes(text, folder)).toEqual(expected)
})

it.each([
  'all:\n\tinclude x.mk',
  '# include x.mk',
  '-include $(DEPS)',
  '-include $(OBJECTS:.o=.d)',
  'include ../../outside.mk',
  'include /etc/x.mk',
  '# CMAKE generated file: DO NOT EDIT!\ninclude CMakeFiles/a.dir/flags.make',
  'includes = x.mk',
])('%s includes nothing of the project that somebody wrote', (text) => expect(makeIncludes(text, 'a')).toEqual([]))

it('gives up on variables that name one another without end', () => {
  const many = (name: string) => `$(${name})`.repeat(1_000)
  const text = ['A', 'B', 'C', 'D', 'E', 'F'].map((name, at, all) => `${name} = ${many(all[(at + 1) % 6]!)}`).join('\n')
  expect(makeIncludes(`${text}\ninclude ${many('A')}x.mk`, '').length).toBeLessThan(10)
})

it('takes another recipe, variable or include for a change, and dependencies that a compiler writes for none', () => {
  const before = 'CC = cc\na.o: a.c\n\tcc a.c\n'
  for (const after of [
    'CC = evil\na.o: a.c\n\tcc a.c\n',
    'CC = cc\na.o: a.c\n\tevil\n',
    `${before}include evil.mk\n`,
    'CC = cc\na.o: a.c ; evil\n\tcc a.c\n',
    `${before}x: $(shell evil)\n`,
  ])
    expect(changesMakeRuns(before, after), after).toBe(true)
  expect(changesMakeRuns('a.o: a.c\n', '# deps\na.o: a.c a.h \\\n  b.h\n\nb.h:\n')).toBe(false)
  expect(changesMakeRuns('define run\na: b\nendef\n', 'define run\nc: b\nendef\n')).toBe(true)
})
