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
  ['include $(foreach d,a b,rules/$(d).mk)', '', ['rules/a.mk', 'rules/b.mk']],
  [
    'D = a b\ninclude $(foreach d,$(D),$(foreach e,1 2,$(d)/$(e).mk))',
    'x',
    ['x/a/1.mk', 'x/a/2.mk', 'x/b/1.mk', 'x/b/2.mk'],
  ],
  ['include $(addsuffix .mk,$(addprefix rules/,a b))', '', ['rules/a.mk', 'rules/b.mk']],
  ['include $(sort $(wildcard rules/*.mk conf/*.mk))', '', ['rules/*.mk', 'conf/*.mk']],
  ['$(foreach f,$(wildcard rules/*.mk),$(eval include $(f)))', '', ['rules/*.mk']],
  ['$(eval include $$(X))\nX = late.mk', '', ['late.mk']],
  ['define use\ninclude rules/$(1).mk\nendef\n$(eval $(call use,a))', '', ['rules/*.mk', 'rules/a.mk']],
  ['define use\n  include $(1)\nendef\n$(foreach f,a.mk b.mk,$(eval $(call use,$(f))))', '', ['a.mk', 'b.mk']],
  ['pick = $(if $(1),on.mk,off.mk)\ninclude $(call pick,$(X))', '', ['on.mk', 'off.mk']],
  ['include $(foreach d,$(shell ls rules),rules/$(d))', '', ['rules/*']],
  ['include $(call unknown,x)', '', ['*.mk', '*/*.mk', '*/*/*.mk']],
  ['E := $(eval include rules/e.mk)', '', ['rules/e.mk']],
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

it('gives up on functions that make ever more of one another', () => {
  const many = 'w '.repeat(150)
  const text = `W = ${many}\ninclude $(foreach a,$(W),$(foreach b,$(W),$(foreach c,$(W),$(a)$(b)$(c).mk)))\n`
  const loop = 'define x\n$(eval $(call x,1))$(eval $(call x,2))\nendef\n$(eval $(call x,0))\n'
  expect(makeIncludes(`${text}${loop}`, '').length).toBeLessThan(10_000)
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
