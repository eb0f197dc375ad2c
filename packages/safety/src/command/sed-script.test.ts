import { describe, expect, it } from 'vitest'
import { classifyCommand } from '../index.js'

const CONTEXT = { cwd: '/home/ada/project', userHome: '/home/ada', home: '/home/ada/.hermes' }
const rulesOf = (command: string) => classifyCommand(command, CONTEXT).rules

describe('scripts of sed', () => {
  it.each([
    ...["sed -i '1e id' x", "sed -i 1e'id' x", "sed '1eid' x", "sed 'eid' x", "sed -n '$!eid' x", "sed '1,3eid' x"],
    ...[
      "sed '/a/Ieid' x",
      "sed '/a/,/b/eid' x",
      "sed '0~2eid' x",
      String.raw`sed '\,a,eid' x`,
      "sed '1{eid' x",
      "sed '1{p;eid}' x",
    ],
    ...["sed 's/a/id/e' x", "sed 's|a|id|ge' x", "sed 's;a;id;e' x", "sed 'p;s/a/b/;s/c/id/e' x", "sed 'y/a/b/;eid' x"],
    ...[
      'sed -e p -e eid x',
      'sed --expression=eid x',
      'sed --expr eid x',
      'sed -neeid x',
      'sed -n -E -i.bak eid x',
      'sed -ie eid x',
    ],
    ...[
      "sed 'a text\neid' x",
      "sed ':a;eid' x",
      "sed 'b end;eid;:end' x",
      'sed -- eid x',
      'sed -l 3 eid x',
      'gsed eid x',
    ],
    ...["sed '# a\\\n1e id' x", "sed 'w out\\\ne id' x", "sed 'r a\\\neid' x", "sed 's/a/b/w c\\\neid' x"],
    ...["sed ':a e id' x", "sed ': a e id' x", "sed x -be 'e id'", 'sed x -beeid', "sed -nbsE -e 'e id' x"],
    ...[
      "sed 's/[/]/x/;e id;s/q/r/' x",
      "sed '/[/]/e id' x",
      "sed 's/[[===]]/a/;s/b/=]]/x/;e id\n/p/p' x",
      "sed 's/[[...]]/a/;s/b/.]]/x/;e id\n/p/p' x",
      String.raw`sed '\,[,],,/[]/]/e id' x`,
      "sed 'y/[/]/;e id' x",
    ],
    ...["sed 's/a/[/;e id' x", String.raw`sed 's/[\]/]/;e id' x`, "sed 's/[[:alpha:]/]/id/e' x"],
    ...["sed 's[q[id[e' x", String.raw`sed 's\q\id\e' x`],
    ...[`sed 's/a/b/w out\neid' x`, 'sed "2,+3 eid" x', 'sed "1!{ eid" x', "sed 's/[a]/x/;eid' x"],
  ])('%s runs a program', (command) => {
    expect(rulesOf(command)).toContain('runs-program-option')
  })

  it.each([
    ...[
      "sed -n '1,5p' example.txt",
      "sed 's/;expires=.*//' e.txt",
      "sed -e 's/a/b/' -e 's/c/d/' evil",
      "sed 's/e/e/g' x",
    ],
    ...[
      "sed '/error/d' x",
      "sed -n '/^export/p' x",
      "sed 'a export A=1' x",
      "sed '$a\\\nexport A=1' x",
      "sed 's|/e|/f|' x",
    ],
    ...[
      `sed -E 's/(;e)/\\1/; /^e/d' x`,
      "sed 'y/e/f/' x",
      "sed ':e;N;$!be;s/\\n/ /g' x",
      'sed -f script.sed e.txt',
      "sed '/e/{n;d}' x",
    ],
    ...["sed 's/[^/]*$/env/' x", "sed -E 's/[]/e]+;e/x/' x", "sed '/[/]/,/[;e]/d' x", "sed 's/[[:space:]/;e]*$//' x"],
    ...["sed 'a text\\\ne id' x", "sed ':a N;$!ba;s/\\n/ /g' x", "sed 's#[^#]*#env#' x", "sed -bn 's/a/b/p' e"],
    ...[
      "sed '/start/,/end/d' x",
      String.raw`sed 's/\/e;e/x/' x`,
      "sed -i.e 's/a/b/' e",
      "sed 'r e.txt' x",
      "sed '# e' x",
      'sed 5q e',
    ],
  ])('%s runs none', (command) => {
    expect(rulesOf(command)).not.toContain('runs-program-option')
  })
})
