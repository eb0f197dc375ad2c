import type { ActingSkill, Action, Subject } from '@hermes/contracts/policy'
import { describe, expect, it } from 'vitest'
import { type AuditRecord, createPolicy, type PermissionRule, skillsInCommand } from './index.js'

const hub = '/home/ada/.hermes/skills/.hub/skills'
const skill = (name: string, ...capabilities: ActingSkill['capabilities']): ActingSkill => ({
  ...{ name, capabilities, variables: [] },
  folder: `${hub}/${name}@0123456789ab`,
})
const [tides, moon] = [skill('tides', 'exec', 'network'), skill('moon', 'exec')]
const at = tides.folder

describe('a command line', () => {
  it.each([
    [`${at}/scripts/run.sh`],
    [`python3 ${at}/x.py --fast`],
    ['bash ~/.hermes/skills/.hub/skills/tides@0123456789ab/run.sh'],
    [`cd ${at} && ./run.sh`],
    [`cd ${hub}; sh tides@0123456789ab/run.sh`],
    [`cp ${at}/x.py . && python3 x.py`],
    [`echo "$(bash ${at}/x.sh)"`],
    [`D=${at}; node $D/x.mjs`],
    [`${at}/cat README.md`],
    [`PATH=${at}:$PATH cat x`],
    [`awk -f ${at}/x.awk data`],
    [`bash '${at}/x.sh`],
  ])('runs a program of a skill: %s', (command) =>
    expect(skillsInCommand(command, { cwd: '/home/ada/work', skills: [tides, moon] })).toEqual({
      named: [tides],
      acting: tides,
    }),
  )

  it.each([[`cat ${at}/SKILL.md`], [`cp ${at}/assets/a.html .`], [`cd ${at}`], [`grep -rn moon ${at} | head -3`]])(
    'looks at a skill alone: %s',
    (command) =>
      expect(skillsInCommand(command, { cwd: '/home/ada/work', skills: [tides, moon] })).toEqual({
        named: [tides],
        acting: null,
      }),
  )

  it('has nothing of skills that it does not name, and what all may of those that it does', () => {
    const skills = [tides, moon]
    const of = (command: string, cwd = '/home/ada/work') => skillsInCommand(command, { cwd, skills }).acting
    expect(of('make test')).toBeNull()
    expect(of('./run.sh', at)).toBe(tides)
    expect(of('./run.sh', `${at}/scripts`)).toBe(tides)
    expect(of(`python3 ${at}/x.py | python3 ${moon.folder}/y.py`)).toMatchObject({
      ...{ name: 'tides+moon', capabilities: ['exec'] },
    })
  })
})

describe('where nothing holds a command, it may run a program of a skill that it does not name', () => {
  const reached = (command: string, cwd = '/home/ada/work') =>
    skillsInCommand(command, { cwd, skills: [tides], isHeld: false }).acting

  it.each([
    ['bash ~/.hermes/skills/.hub/skills/t*/run.sh'],
    ['bash /home/ada/.hermes/sk*/.h*/*/*/run.sh'],
    ['bash ~/.h*/s*/.h*/s*/{tides,moon}@*/run.sh'],
    ['~/.[h]ermes/*/.*/*/*/run.sh'],
    ['cd ~/.hermes/*/.*/*/t* && ./run.sh'],
    ['for one in ~/.hermes/*/.*/*/*; do bash $one/run.sh; done'],
    ['P=$(find ~ -name run.sh | head -1); bash $P'],
    ['bash "$D/run.sh"'],
    ['$D/run.sh --fast'],
    ['source $D'],
    ['bash ~/.hermes/skills/$X/run.sh'],
    ['python3 -c "import os, subprocess\nfor d, _, f in os.walk(os.sep): subprocess.run([d + f[0]])"'],
    ['node -e "for (const d of fs.readdirSync(at)) await import(at + d)"'],
    ['find ~/.hermes -name "*.sh" -exec bash {} \\;'],
    ['find / -name run.sh | xargs bash'],
    ['awk -f ~/.h*/s*/.h*/s*/t*/x.awk data'],
    ['python3 -c "import runpy, glob; runpy.run_path(glob.glob(\'/home/ada/.hermes/skills/.hub/*/*/x.py\')[0])"'],
  ])('%s', (command) => expect(reached(command)).toEqual(tides))

  it.each([
    ['make test'],
    ['npx prettier src/*.ts'],
    ['for f in *.js; do node $f; done'],
    ['bash /home/ada/work/$X/run.sh'],
    ['node ~/work/*/x.js'],
    ['find . -name "*.ts" -exec npx prettier {} \\;'],
    ['echo $HOME ~/.h*/*'],
    ['ls ~/.hermes/skills/.hub/skills/*'],
    ['git commit -m "use *"'],
    ['node build.mjs "$OUT"'],
    ["python3 -c \"import glob, re; print(re.compile('x'), glob.glob('*'))\""],
  ])('but not by %s', (command) => expect(reached(command)).toBeNull())

  it('and is found from the folder that it starts in', () => {
    expect(reached('./*/run.sh', hub)).toEqual(tides)
    expect(reached('./x/run.sh', hub)).toBeNull()
    expect(
      skillsInCommand('bash ~/.hermes/skills/.hub/skills/t*/run.sh', { cwd: '/', skills: [tides] }).acting,
    ).toBeNull()
  })
})

describe('a skill of a project, which isolated commands see too', () => {
  const cwd = '/home/ada/work'
  const open: ActingSkill = {
    ...{ name: 'moon', capabilities: [], variables: [], isOpen: true },
    folder: `${cwd}/.agents/skills/moon`,
  }
  const acting = (command: string, from = cwd) => skillsInCommand(command, { cwd: from, skills: [open] }).acting

  it.each([
    ['bash .agents/skills/moon/run.sh'],
    ['.agents/skills/moon/cat README.md'],
    ['bash .agents/ski""lls/mo\'\'on/run.sh'],
    ['cd .agents/skills && bash moon/run.sh'],
    ['P=.agents/skills/moon; bash $P/run.sh'],
    ['bash .agents/skills/*/run.sh'],
    ['cd .agents/* && sh m*/run.sh'],
    ['find .agents -name "*.sh" -exec bash {} \\;'],
    ['python3 -c \'import os; exec(open(os.path.join(".agents", "skills", "moon", "x.py")).read())\''],
  ])('is run by %s', (command) => expect(acting(command)).toEqual(open))

  it.each([
    ['cat .agents/skills/moon/SKILL.md'],
    ['git add .agents/skills/moon && git status'],
    ['node "$ENTRY" --full-moon'],
    ['npx prettier "**/*.ts" --write'],
    ['find . -name "*.ts" -exec npx prettier {} \\;'],
    ['node src/skills/moon/run.js'],
    ['ls .agents/skills/*'],
  ])('but not by %s', (command) => expect(acting(command)).toBeNull())

  it('is run by what starts in it', () => expect(acting('./run.sh', `${cwd}/.agents/skills/moon`)).toEqual(open))
})

describe('a skill in the folder that is worked in', () => {
  const cwd = '/home/ada/team/skills'
  const [test, deploy] = ['test', 'deploy'].map(
    (name): ActingSkill => ({
      ...{ name, capabilities: [], variables: [], isOpen: true },
      folder: `${cwd}/${name}`,
    }),
  )
  const acting = (command: string, from = cwd) =>
    skillsInCommand(command, { cwd: from, skills: [test!, deploy!] }).acting?.name

  it.each([['npm test'], ['git commit -m "fix deploy"'], ['make deploy # test'], ['npm run --if-present "test"']])(
    'is not run by %s',
    (command) => expect(acting(command)).toBeUndefined(),
  )

  it.each([
    ['bash deploy/run.sh'],
    ['./deploy/run.sh'],
    ['cd deploy && make'],
    ['D=deploy; bash $D/run.sh'],
    ['for one in deploy; do bash $one/run.sh; done'],
    ["python3 -c \"import os; exec(open(os.path.join('deploy', 'x.py')).read())\""],
    ['bash ~/team/skills/deploy/run.sh'],
  ])('is run by %s', (command) => expect(acting(command)).toBe('deploy'))

  it('is run by what works in it', () => expect(acting('make', `${cwd}/deploy/scripts`)).toBe('deploy'))
})

describe('the program of an installed skill', () => {
  const run = (command: string, more: object = {}): Action => ({
    ...{ type: 'spawn', command, cwd: '/home/ada/work', backend: 'local' },
    ...more,
  })
  const setUp = (skills: readonly ActingSkill[], rules: readonly PermissionRule[] = []) => {
    const audit: AuditRecord[] = []
    const policy = createPolicy({
      ...{ mode: 'ask', home: '/home/ada/.hermes', userHome: '/home/ada', rules, skills: async () => skills },
      audit: { record: (entry) => void audit.push(entry) },
    })
    policy.listen('s1', () => undefined)
    const decide = (action: Action, held: boolean) => {
      const subject: Subject = {
        ...{ sessionId: 's1', platform: 'cli', agentPath: ['root'], origin: 'model', tainted: false },
        ...(held ? { writable: ['/home/ada/work', '/tmp'] } : {}),
      }
      return policy.decide(action, subject)
    }
    return { decide, policy, audit }
  }

  it('acts as the skill, and runs unasked where it is held and has declared that it runs', async () => {
    const { decide, audit } = setUp([tides])
    expect(await decide(run(`${at}/run.sh`), true)).toMatchObject({ type: 'allow' })
    expect(audit).toMatchObject([{ agentPath: ['root', 'skill:tides'], decision: 'allow' }])
    expect(await decide(run('make test'), true)).toMatchObject({ type: 'allow' })
    expect(audit[1]!.agentPath).toEqual(['root'])
  })

  it('asks where nothing holds it, each time and not for good', async () => {
    const { decide, policy } = setUp([tides])
    const lines = [run(`sh ${at}/run.sh`), run(`sh ${at}/run.sh`, { outside: true }), run(`sh ${hub}/*/run.sh`)]
    for (const action of lines) {
      const held = 'outside' in action
      const verdict = await decide(action, held)
      expect(verdict).toMatchObject({ type: 'ask', question: { choices: ['once', 'deny'] } })
      expect(JSON.stringify(verdict)).toContain('a program of the skill tides, which has declared exec, network')
      if (verdict.type === 'ask') await policy.answer(verdict.approvalId, 'once')
      expect(verdict.type === 'ask' && (await policy.settled(verdict.approvalId))).toMatchObject({ type: 'allow' })
      expect(await decide(action, held)).toMatchObject({ type: 'ask' })
    }
  })

  it('asks where its skill has not declared that it runs programs, and is denied the network it has not declared', async () => {
    const { decide } = setUp([skill('tides'), moon])
    expect(await decide(run(`sh ${at}/run.sh`), true)).toMatchObject({
      type: 'ask',
      question: { rule: 'skill-exec-tides', summary: expect.stringContaining('not declared that it runs programs') },
    })
    expect(await decide(run(`cat ${at}/SKILL.md`), false)).toMatchObject({ type: 'allow' })
    expect(await decide(run(`sh ${moon.folder}/run.sh`, { network: 'on' }), true)).toMatchObject({
      ...{ type: 'deny', rule: 'skill-capability' },
      reason: expect.stringContaining('Programs of the skill moon have no network, which it has not declared'),
    })
  })

  it('is what a rule of the person says, and on another machine there is none', async () => {
    const { decide } = setUp([skill('tides')], [{ pattern: 'terminal(sh /home/ada/**)', effect: 'allow' }])
    expect(await decide(run(`sh ${at}/run.sh`), false)).toMatchObject({ type: 'allow' })
    const remote = setUp([skill('tides')])
    expect(await remote.decide(run(`sh ${at}/run.sh`, { backend: 'ssh' }), false)).toMatchObject({ type: 'allow' })
  })
})
