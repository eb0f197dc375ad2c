import { expect, it } from 'vitest'
import { exitCodeMeaning } from './exit-code-meaning.js'

it.each([
  ['grep -rn foo src', 1, /no lines matched/],
  ['cat a | /usr/bin/grep foo', 1, /no lines matched/],
  ['cd src && LC_ALL=C sudo rg foo', 1, /no lines matched/],
  ['grep "a|b; diff" x', 1, /no lines matched/],
  ['diff a b', 1, /differ/],
  ['git diff --exit-code', 1, /differences/],
  ['git -C repo --no-pager diff --quiet', 1, /differences/],
  ['[ -e x ]', 1, /condition is false/],
  ['test -f x', 1, /condition is false/],
  ['find / -name x', 1, /could not be read/],
  ['curl -f https://x', 22, /HTTP error/],
  ['curl https://nowhere', 6, /resolved/],
  ['pytest -q', 5, /no tests/],
  ['npx -y something; ssh host true', 255, /connection failed/],
  ['cd a && tsc --noEmit', 2, /type errors/],
  ['systemctl is-active nginx', 3, /not active/],
  ['docker run --rm x nope', 127, /not found/],
  ['whatever', 127, /not found/],
  ['sort big', 137, /SIGKILL/],
])('explains %s ending with %i', (command, exitCode, meaning) => {
  expect(exitCodeMeaning(command, exitCode)).toMatch(meaning)
})

it.each([
  ['grep foo x', 0],
  ['grep foo x | sort', 1],
  ['diff a b && npm test', 1],
  ['git commit -m x', 1],
  ['npm test', 1],
  ['', 1],
  ['constructor', 1],
  ['git toString', 1],
])('says nothing about %s ending with %i', (command, exitCode) => {
  expect(exitCodeMeaning(command, exitCode)).toBeNull()
})
