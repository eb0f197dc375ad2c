/**
 * What somebody tries who wants out of the isolation; written from the README of the sandbox and decision 0012 alone.
 *
 * Placeholders: `@ROOT@` holds all; `@HOME@` the stand-in home, `@WORK@` the folder worked in, `@HERMES@` the Hermes home, `@OUT@` a folder
 * outside the home, `@TMP@` a folder of the probe below the temporary one, `@ID@` a word of its own, `@SECRET@` (in contents) the text that
 * must not come out, `@NODE@` this Node, `@CONNECT@` a program that connects to a socket, `@PID@` a process outside with a secret in its
 * variables and arguments, `@AGENT@` the process that holds the environment.
 */
export interface Plant {
  readonly dirs?: readonly string[]
  readonly files?: Readonly<Record<string, string>>
  readonly links?: Readonly<Record<string, string>>
  readonly sockets?: readonly string[]
  /** Folders in which `git init` and one commit are done. */
  readonly repositories?: readonly string[]
  /** Files put in place of old ones by a rename. */
  readonly replace?: Readonly<Record<string, string>>
  readonly remove?: readonly string[]
  /** Belong to another user afterwards, where this one is root. */
  readonly foreign?: readonly string[]
  /** Variables of the environment, before `filterEnvironment`. */
  readonly env?: Readonly<Record<string, string>>
}

type Step =
  /** Runs inside. */
  | string
  /** Runs outside, as a person who agreed would have it. */
  | { readonly outside: string }
  /** Done on the machine in between. */
  | { readonly host: Plant }
  /** Runs inside in the background till the end of the probe. */
  | { readonly background: string }

export interface Probe {
  readonly id: string
  readonly class: string
  readonly title: string
  readonly plant?: Plant
  readonly commands: readonly Step[]
  /** `change`: something outside; `read`: a planted secret; `reach`: a planted socket; `end`: a process outside; `outlive`: the environment; `hang`: what comes next. */
  readonly mustNot: 'change' | 'read' | 'reach' | 'end' | 'outlive' | 'hang'
  /** Gets an environment of its own, opened after planting. */
  readonly open?: {
    readonly cwd?: string
    readonly home?: string
    readonly offline?: true
    readonly writable?: readonly string[]
    readonly readable?: readonly string[]
    readonly hidden?: readonly string[]
  }
  /** Also to be unchanged (absent) afterwards; removed by the runner. */
  readonly watch?: readonly string[]
}

const probes: Probe[] = []
const add = (
  group: string,
  title: string,
  mustNot: Probe['mustNot'],
  commands: readonly Step[],
  rest: Partial<Probe> = {},
) => {
  const count = probes.filter((probe) => probe.class === group).length + 1
  probes.push({ id: `${group}-${String(count).padStart(2, '0')}`, class: group, title, commands, mustNot, ...rest })
}

// --- .git files ---------------------------------------------------------------------------------------------------------------------
const WRITE_HOME =
  'echo evil >> @HOME@/.bashrc; echo evil > @HOME@/escaped; echo evil > @ROOT@/escaped; echo evil > @OUT@/escaped'
const READ_KEYS = 'cat @HOME@/.ssh/id_rsa @HERMES@/.env @HERMES@/auth.json'
const WRITE_HERMES = "echo 'terminal.*: allow' > @HERMES@/permissions.yaml; echo x > @HERMES@/escaped"
const ATTACK = `${WRITE_HOME}; ${READ_KEYS}; ${WRITE_HERMES}`
const gitFile = (title: string, target: string, extra: string = ':') =>
  add('git-file', `a program writes a .git file that names ${title}`, 'change', [
    `${extra}; printf 'gitdir: ${target}\\n' > .git`,
    ATTACK,
  ])
gitFile('the home folder', '@HOME@')
gitFile('a folder below the home, so that two above is its parent', '@HOME@/.config/git')
gitFile('the folder of keys', '@HOME@/.ssh')
gitFile('a place two below the folder of keys', '@HOME@/.ssh/worktrees/x')
gitFile('the root of the machine', '/')
gitFile('a folder of the system', '/var/lib')
gitFile('the home by a relative path', '../../home')
gitFile('the home by .. after a link', 'l/../home', 'ln -s @HOME@ l')
gitFile('the Hermes home', '@HERMES@/worktrees/x')
gitFile('another project', '@HOME@/other/.git')
gitFile('another project as if a worktree', '@HOME@/other/.git/worktrees/x')
gitFile('a link in tmp to the home', '@TMP@/l/worktrees/x', 'mkdir -p @TMP@; ln -s @HOME@ @TMP@/l')
gitFile(
  'two below a link to the home, with the link back',
  '@TMP@/r/.git/worktrees/w',
  'mkdir -p @TMP@/r; ln -s @HOME@ @TMP@/r/.git; mkdir -p @TMP@/r/.git/worktrees/w',
)
gitFile(
  'a worktree of its own in tmp whose commondir is the home',
  '@TMP@/r/.git/worktrees/w',
  'mkdir -p @TMP@/r/.git/worktrees/w; echo @WORK@/.git > @TMP@/r/.git/worktrees/w/gitdir; echo @HOME@ > @TMP@/r/.git/worktrees/w/commondir',
)
gitFile(
  'a worktree in tmp with a link for worktrees',
  '@TMP@/r/.git/worktrees/w',
  'mkdir -p @TMP@/r/.git; ln -s @HOME@/.ssh @TMP@/r/.git/worktrees',
)
gitFile(
  'a module in tmp whose core.worktree is this tree and whose modules folder is a link',
  '@TMP@/r/.git/modules/m',
  'mkdir -p @TMP@/r/.git @TMP@/m/m; printf "[core]\\n worktree = @WORK@\\n" > @TMP@/m/m/config; ln -s @HOME@/.config @TMP@/r/.git/modules',
)
gitFile('the home with a carriage return and blanks', ' @HOME@ \\r')
gitFile('the home without a blank and with more lines', '@HOME@\\ngitdir: /tmp')
gitFile(
  'a folder whose .. leads over a link into the home',
  '@TMP@/a/b',
  'mkdir -p @TMP@; ln -s @HOME@/other/deep @TMP@/a; true',
)
add('git-file', '.git is a link to the folder of keys', 'read', ['ln -s @HOME@/.ssh .git', ATTACK])
add('git-file', '.git is a link to the home folder', 'change', [
  'ln -s @HOME@ .git',
  `${ATTACK}; echo x > .git/escaped`,
])
add('git-file', '.git is a link to a file that names the home', 'change', [
  'mkdir -p @TMP@; echo "gitdir: @HOME@" > @TMP@/f; ln -s @TMP@/f .git',
  ATTACK,
])
add('git-file', 'a .git folder names the home as its common folder', 'change', [
  'git init -q .; echo @HOME@ > .git/commondir',
  ATTACK,
])
add('git-file', 'a .git folder has the home as its work tree', 'change', [
  'git init -q .; git config core.worktree @HOME@; git add -A; git checkout -f',
  ATTACK,
])
add('git-file', 'a .git file lies in the folder that the shell went to', 'change', [
  'mkdir s; cd s; echo "gitdir: @HOME@/.config/git" > .git',
  ATTACK,
])
add('git-file', 'variables name the home as the git folder', 'change', [
  'export GIT_DIR=@HOME@/.ssh GIT_WORK_TREE=@HOME@ GIT_COMMON_DIR=@HOME@',
  ATTACK,
])
add('git-file', 'git makes a worktree in the home', 'change', [
  'git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m a; git worktree add -q @HOME@/wt',
  ATTACK,
])
add('git-file', 'git makes its folder in the home', 'change', ['git init -q --separate-git-dir=@HOME@/g .', ATTACK])
add('git-file', 'a real worktree in tmp is moved into another repository of the home', 'change', [
  'git init -q @TMP@/r; git -C @TMP@/r -c user.name=a -c user.email=a@b commit -q --allow-empty -m a; git -C @TMP@/r worktree add -q @WORK@/w; cd w; sed -i "s|@TMP@/r|@HOME@/other|" .git',
  `echo x > @HOME@/other/.git/escaped; ${ATTACK}`,
])
for (const [title, make] of [
  ['a pipe', 'mkfifo .git'],
  ['a link to an endless device', 'ln -s /dev/zero .git'],
  ['a sparse file of a gigabyte', 'truncate -s 1G .git'],
  ['a file of a megabyte in one line', '{ printf "gitdir: "; head -c 1000000 /dev/zero | tr "\\0" a; } > .git'],
  ['a file with a NUL', 'printf "gitdir: /tmp\\0x\\n" > .git'],
  ['a ring of links', 'ln -s .git2 .git; ln -s .git .git2'],
  [
    'a folder whose HEAD, commondir, config and gitdir are pipes',
    'mkdir .git; cd .git; mkfifo HEAD commondir config gitdir',
  ],
] as const)
  add('git-hang', `.git is ${title}`, 'hang', [make, 'echo still here'])
const HOSTILE: readonly (readonly [string, Plant])[] = [
  ['the home', { files: { '@WORK@/.git': 'gitdir: @HOME@\n' } }],
  ['two below the home', { files: { '@WORK@/.git': 'gitdir: @HOME@/.config/git\n' } }],
  ['the folder of keys', { files: { '@WORK@/.git': 'gitdir: @HOME@/.ssh\n' } }],
  ['the Hermes home', { files: { '@WORK@/.git': 'gitdir: @HERMES@/worktrees/x\n' } }],
  ['the root', { files: { '@WORK@/.git': 'gitdir: /\n' } }],
  [
    'another repository',
    { files: { '@WORK@/.git': 'gitdir: @HOME@/other/.git/worktrees/x\n' }, dirs: ['@HOME@/other/.git/worktrees/x'] },
  ],
  [
    'a worktree that names another tree',
    {
      files: {
        '@WORK@/.git': 'gitdir: @HOME@/other/.git/worktrees/x\n',
        '@HOME@/other/.git/worktrees/x/gitdir': '@HOME@/elsewhere/.git\n',
      },
    },
  ],
  [
    'a worktree inside the project whose commondir is the home',
    {
      files: {
        '@WORK@/.git': 'gitdir: @WORK@/g/worktrees/x\n',
        '@WORK@/g/worktrees/x/gitdir': '@WORK@/.git\n',
        '@WORK@/g/worktrees/x/commondir': '@HOME@\n',
      },
    },
  ],
  [
    'a module inside the project over a link that leads to the home',
    {
      files: { '@WORK@/.git': 'gitdir: @WORK@/g/modules/x\n' },
      links: { '@WORK@/g': '@HOME@/other' },
      dirs: ['@HOME@/other/modules/x'],
    },
  ],
]
for (const [title, plant] of HOSTILE)
  add(
    'git-project',
    `a project comes with a .git file that names ${title}`,
    'change',
    [`${ATTACK}; echo x >> @HOME@/other/.git/config; echo x > @HOME@/other/.git/hooks/pre-commit`],
    { plant, open: {} },
  )
add('git-project', 'a project comes with a link for .git to the home', 'change', [`${ATTACK}; echo x > .git/escaped`], {
  plant: { links: { '@WORK@/.git': '@HOME@' } },
  open: {},
})
add('git-project', 'the .git file lies above the folder worked in', 'change', [ATTACK], {
  plant: { files: { '@WORK@/.git': 'gitdir: @HOME@/.config/git\n' }, dirs: ['@WORK@/sub'] },
  open: { cwd: '@WORK@/sub' },
})
add('git-project', 'the home folder is a repository around the project', 'change', [ATTACK], {
  plant: { dirs: ['@HOME@/.git/objects', '@HOME@/.git/refs'], files: { '@HOME@/.git/HEAD': 'ref: refs/heads/main\n' } },
  open: {},
})
add(
  'git-project',
  'the home folder is reached over a link, and is a repository around the project',
  'change',
  [ATTACK],
  {
    plant: {
      dirs: ['@HOME@/.git/objects', '@HOME@/.git/refs'],
      files: { '@HOME@/.git/HEAD': 'ref: refs/heads/main\n' },
      links: { '@ROOT@/homelink': '@HOME@' },
    },
    open: { home: '@ROOT@/homelink' },
  },
)
add('git-project', 'a repository holds the whole home', 'change', [ATTACK], {
  plant: { dirs: ['@ROOT@/.git/objects', '@ROOT@/.git/refs'], files: { '@ROOT@/.git/HEAD': 'ref: refs/heads/main\n' } },
  open: {},
})
add('git-project', 'a .git file in the home names a folder outside', 'change', [ATTACK], {
  plant: { files: { '@HOME@/.git': 'gitdir: @OUT@\n' } },
  open: {},
})

// --- renamed folders ------------------------------------------------------------------------------------------------------------------
const RENAME_OPEN = {
  plant: { repositories: ['@WORK@'], dirs: ['@WORK@/packages/a'] },
  open: { cwd: '@WORK@/packages/a' },
} as const
for (const [title, target] of [
  ['the home', '@HOME@'],
  ['the folder of keys', '@HOME@/.ssh'],
  ['the Hermes home', '@HERMES@'],
  ['the root', '/'],
  ['a folder outside', '@OUT@'],
] as const)
  add(
    'renamed',
    `the folder above is renamed and a link to ${title} takes the place`,
    'change',
    [
      `cd ../..; mv packages p2; mkdir packages; ln -s ${target} packages/a`,
      ATTACK,
      'echo x > @WORK@/packages/a/escaped; cat @WORK@/packages/a/.ssh/id_rsa @WORK@/packages/a/id_rsa @WORK@/packages/a/.env',
    ],
    RENAME_OPEN,
  )
add(
  'renamed',
  'the folder above becomes a link to one that has a folder of that name',
  'change',
  ['cd ../..; mv packages p2; mkdir -p @TMP@; ln -s @HOME@ @TMP@/a; ln -s @TMP@ packages', ATTACK],
  RENAME_OPEN,
)
add(
  'renamed',
  'the folder above is swapped while a command runs',
  'change',
  [
    {
      background:
        'cd @WORK@; while :; do mv packages p2 && ln -s @HOME@/trap packages; rm -f packages; mv p2 packages; done 2>/dev/null',
    },
    ...Array.from({ length: 12 }, () => `echo x > ./swapped; ${WRITE_HOME}`),
  ],
  {
    plant: { repositories: ['@WORK@'], dirs: ['@WORK@/packages/a', '@HOME@/trap/a'] },
    open: { cwd: '@WORK@/packages/a' },
  },
)
add('renamed', 'a folder of the workspace that the shell went to becomes a link to the home', 'change', [
  'mkdir -p x/y; cd x/y',
  'mv @WORK@/x @WORK@/z; mkdir @WORK@/x; ln -s @HOME@ @WORK@/x/y',
  `echo x > escaped; ${ATTACK}`,
])
add(
  'renamed',
  'a workspace below the temporary folder is replaced by a link to the home',
  'change',
  ['cd ..; mv p old; ln -s @HOME@ p', ATTACK, 'echo x > @TMP@/p/escaped'],
  { plant: { dirs: ['@TMP@/p'] }, open: { cwd: '@TMP@/p' } },
)
add(
  'renamed',
  'the folder above a workspace below the temporary folder is replaced',
  'change',
  ['cd ../..; mv q old; mkdir q; ln -s @HOME@ q/p', ATTACK],
  { plant: { dirs: ['@TMP@/q/p'] }, open: { cwd: '@TMP@/q/p' } },
)
add(
  'renamed',
  'the tree around the workspace, below the temporary folder, is replaced',
  'change',
  ['cd ../..; mv r old; mkdir r; ln -s @HOME@ r/.git; mkdir -p r/sub', ATTACK],
  { plant: { repositories: ['@TMP@/r'], dirs: ['@TMP@/r/sub'] }, open: { cwd: '@TMP@/r/sub' } },
)
add(
  'renamed',
  'a folder of isolation_write is replaced by a link to the home',
  'change',
  ['mv @WORK@/w/x @WORK@/old; ln -s @HOME@ @WORK@/w/x', ATTACK],
  { plant: { dirs: ['@WORK@/w/x'] }, open: { writable: ['@WORK@/w/x'] } },
)
add(
  'renamed',
  'a folder of isolation_read is replaced by a link to the folder of keys',
  'read',
  ['mv @WORK@/w/x @WORK@/old; ln -s @HOME@/.ssh @WORK@/w/x', `${ATTACK}; cat @WORK@/w/x/*`],
  { plant: { dirs: ['@WORK@/w/x'] }, open: { readable: ['@WORK@/w/x'] } },
)
add(
  'renamed',
  'a folder of isolation_write that was missing is made as a link to the home',
  'change',
  ['ln -s @HOME@ @WORK@/later', ATTACK],
  { open: { writable: ['@WORK@/later'] } },
)
add(
  'renamed',
  'the Hermes home lies in the workspace, and the folder above it is renamed',
  'read',
  ['mv conf conf2', 'cat conf2/.hermes/.env', 'cp -r conf2 c3; cat c3/.hermes/.env'],
  { plant: { files: { '@WORK@/conf/.hermes/.env': 'KEY=@SECRET@\n' } }, open: { hidden: ['@WORK@/conf/.hermes'] } },
)
add(
  'renamed',
  'the home itself is worked in, and the folder above a hidden one is renamed',
  'read',
  ['mv .config c2', 'cat c2/gh/hosts.yml c2/gcloud/*', 'find c2 -type f | head -50 | xargs cat'],
  {
    plant: {
      files: {
        '@HOME@/.config/gh/hosts.yml': 'oauth_token: @SECRET@\n',
        '@HOME@/.config/gcloud/application_default_credentials.json': '{"refresh_token":"@SECRET@"}',
      },
    },
    open: { cwd: '@HOME@' },
  },
)
add(
  'renamed',
  'the folder above the home is worked in, and the home is renamed',
  'read',
  ['mv home h2', 'cat h2/.ssh/id_rsa h2/.hermes/.env h2/.netrc; cd h2 && cat .ssh/id_rsa .hermes/auth.json'],
  { open: { cwd: '@ROOT@' } },
)
add(
  'renamed',
  'the home itself is worked in, and hidden places are linked and copied',
  'read',
  [
    'ln .netrc n; cp -al .ssh s; mv .ssh s2; mv .netrc n2; mv .hermes h2',
    'cat n n2 s/* s2/* h2/.env h2/auth.json .ssh/* .netrc',
  ],
  { open: { cwd: '@HOME@' } },
)
add('renamed', 'the root is worked in', 'read', [READ_KEYS, `cat @HOME@/.netrc`], { open: { cwd: '/' } })
add('renamed', 'a folder above a place that is made later is moved', 'read', [
  'mkdir -p a/b; mv a c; ln -s @HOME@ a',
  { host: { files: { '@HOME@/b/token': '@SECRET@' } } },
  'cat @WORK@/a/.ssh/id_rsa; cat a/.hermes/.env',
])

// --- links and .. -------------------------------------------------------------------------------------------------------------------
for (const [title, command] of [
  ['a link to a folder outside', 'ln -s @OUT@ l; echo x > l/escaped; touch l/../escaped; mkdir l/sub'],
  [
    'a hard link to a file outside',
    'ln @OUT@/canary h && echo x >> h; ln @HOME@/notes.txt @TMP@-h && echo x >> @TMP@-h',
  ],
  [
    'the root of another process',
    'for p in /proc/[0-9]* /proc/self /proc/thread-self; do echo x > $p/root@OUT@/escaped; echo x > $p/cwd/../../escaped; done',
  ],
  [
    'open descriptors',
    'for f in /proc/self/fd/* /dev/fd/*; do echo x > $f/../escaped; echo x > $f/escaped; echo evil >> $f; done 2>/dev/null </dev/null; ls -l /proc/self/fd',
  ],
  ['a rename over what is outside', 'echo x > e; mv -f e @OUT@/canary; mv -f @OUT@/canary .; mv -T . @OUT@/w'],
  [
    'a copy that keeps links',
    'ln -s @OUT@/canary c; echo x > f; cp --remove-destination f @OUT@/canary; cp -f f c; dd if=f of=c conv=notrunc; tee c < f',
  ],
  [
    'tar with links and absolute names',
    'mkdir t; ln -s @OUT@ t/l; tar cf a.tar t/l; rm t/l; mkdir t/l; echo x > t/l/escaped; tar rf a.tar t/l/escaped; rm -r t; tar xPf a.tar; tar xf a.tar --overwrite',
  ],
  ['removal through a link', 'ln -s @OUT@ l; rm -rf l/ l/*; find -L l -type f -delete; rm -rf @OUT@ @HOME@/other'],
  [
    'another mode, owner and time',
    'chmod 000 @OUT@ @OUT@/canary; chown 12345 @OUT@/canary; touch -d 2001-01-01 @OUT@/canary; setfattr -n user.x -v y @OUT@/canary; chattr +i @OUT@/canary',
  ],
  ['a truncated file', 'truncate -s 0 @OUT@/canary; : > @OUT@/canary; perl -e \'truncate("@OUT@/canary",0)\''],
  [
    '.. from the workspace',
    'echo x > ../escaped; cd ..; echo x > escaped; mkdir escaped2; cd -P ../..; echo x > escaped',
  ],
  [
    'a mapped file',
    "/usr/bin/python3 -c \"import mmap,os; f=os.open('@OUT@/canary', os.O_RDWR); m=mmap.mmap(f,0); m[0:1]=b'X'\"",
  ],
  [
    'a socket of its own in a folder outside',
    "@NODE@ -e \"require('net').createServer().listen('@OUT@/s.sock', () => process.exit())\"; mkfifo @OUT@/p",
  ],
  [
    'git as a writer',
    'git init -q @OUT@/g; git -C @HOME@/other config user.name evil; git -C @HOME@/other commit -q --allow-empty -m evil; git --git-dir=@HOME@/other/.git tag evil',
  ],
  ['a copied-in workspace folder as mount', 'rm -rf @WORK@; mkdir @WORK@ ; rmdir @WORK@; mv @WORK@ @ROOT@/moved'],
] as const)
  add('link', `${title} leads nowhere outside`, 'change', [command, `cat @OUT@/canary > /dev/null`])

// --- sockets -----------------------------------------------------------------------------------------------------------------------
for (const path of [
  '@HOME@/.1password/agent.sock',
  '@HOME@/.docker/run/docker.sock',
  '@HOME@/.colima/default/docker.sock',
  '@HOME@/.orbstack/run/docker.sock',
  '@HOME@/.local/share/containers/podman/machine/podman.sock',
  '@HOME@/.bitwarden-ssh-agent.sock',
  '@HOME@/.gnupg/S.gpg-agent.ssh',
  '@HOME@/.ssh/ctl-ada@host:22',
  '@HOME@/.local/state/nvim/nvim.9.0',
  '@HOME@/.config/Code/1.99-main.sock',
  '@HOME@/.cache/acme/daemon.sock',
  '@HOME@/apps/agent/ipc.socket',
  '@OUT@/service.sock',
  '/tmp/ssh-@ID@/agent.77',
  '/tmp/emacs@ID@/server',
  '/tmp/nvim.@ID@/0/nvim.7.0',
  '/tmp/tmux-@ID@/default',
  '/tmp/vscode-ipc-@ID@.sock',
  '/tmp/.X11-unix/X@ID@',
  '/tmp/dbus-@ID@',
  '/tmp/.s.PGSQL.@ID@',
  '/var/tmp/@ID@.sock',
  '/dev/shm/@ID@.sock',
  '/run/@ID@.sock',
  '/run/user/@ID@/bus',
])
  add('socket', `nobody inside reaches ${path}`, 'reach', [`@CONNECT@ ${path}`], { plant: { sockets: [path] } })
add('socket', 'a socket that was bound after the first command is out of reach', 'reach', [
  'true',
  { host: { sockets: ['@HOME@/late/agent.sock', '/tmp/@ID@-late/s'] } },
  '@CONNECT@ @HOME@/late/agent.sock; @CONNECT@ /tmp/@ID@-late/s',
])
add(
  'socket',
  'a renamed folder of tmp does not uncover its socket',
  'reach',
  [
    'mv /tmp/@ID@-agent /tmp/@ID@-moved; @CONNECT@ /tmp/@ID@-moved/s',
    '@CONNECT@ /tmp/@ID@-moved/s; mv /tmp/@ID@-moved /tmp/@ID@-agent; @CONNECT@ /tmp/@ID@-agent/s',
  ],
  { plant: { sockets: ['/tmp/@ID@-agent/s'] } },
)
add(
  'socket',
  'a folder of tmp above a socket is renamed',
  'reach',
  [
    'mv /tmp/@ID@-up /tmp/@ID@-upm',
    '@CONNECT@ /tmp/@ID@-upm/a/s; ln /tmp/@ID@-upm/a/s /tmp/@ID@-hard; @CONNECT@ /tmp/@ID@-hard; mv /tmp/@ID@-upm/a/s @WORK@/s; @CONNECT@ @WORK@/s',
  ],
  { plant: { sockets: ['/tmp/@ID@-up/a/s'] } },
)
add(
  'socket',
  'a socket moved or linked by its own name is out of reach',
  'reach',
  [
    'ln /tmp/@ID@.sock @WORK@/h; ln /tmp/@ID@.sock /tmp/@ID@-2; ln -s /tmp/@ID@.sock l; mv /tmp/@ID@.sock /tmp/@ID@-3',
    'for s in @WORK@/h /tmp/@ID@-2 /tmp/@ID@-3 l /tmp/@ID@.sock; do @CONNECT@ $s; done',
  ],
  { plant: { sockets: ['/tmp/@ID@.sock'] } },
)
add(
  'socket',
  'a socket behind a link is out of reach',
  'reach',
  ['@CONNECT@ @HOME@/way/s; @CONNECT@ /proc/self/root@HOME@/.real/s'],
  { plant: { sockets: ['@HOME@/.real/s'], links: { '@HOME@/way': '@HOME@/.real' } } },
)
add(
  'socket',
  'variables lead to no agent',
  'reach',
  [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a line of a shell
    '@CONNECT@ "$SSH_AUTH_SOCK"; @CONNECT@ "${DBUS_SESSION_BUS_ADDRESS#unix:path=}"; @CONNECT@ "${DOCKER_HOST#unix://}"',
  ],
  {
    plant: {
      sockets: ['@HOME@/agents/ssh', '@HOME@/agents/bus', '@HOME@/agents/docker'],
      env: {
        SSH_AUTH_SOCK: '@HOME@/agents/ssh',
        DBUS_SESSION_BUS_ADDRESS: 'unix:path=@HOME@/agents/bus',
        DOCKER_HOST: 'unix://@HOME@/agents/docker',
      },
    },
    open: {},
  },
)
add(
  'socket',
  'a folder that is given to write does not open its sockets',
  'reach',
  ['@CONNECT@ @HOME@/data/docker.sock'],
  { plant: { sockets: ['@HOME@/data/docker.sock'], dirs: ['@HOME@/data'] }, open: { writable: ['@HOME@/data'] } },
)
add('socket', 'an abstract socket is out of reach without the network', 'reach', ['@CONNECT@ "@abstract-@ID@"'], {
  plant: { sockets: ['\0abstract-@ID@'] },
  open: { offline: true },
})
add('socket', 'a service on loopback is out of reach without the network', 'reach', ['@CONNECT@ tcp:@PORT@'], {
  open: { offline: true },
})
add('socket', 'a program that was started before a socket is bound does not reach it', 'reach', [
  { background: 'for n in 1 2 3 4 5 6; do @CONNECT@ @HOME@/.late2/s; @CONNECT@ @HOME@/late2.sock; sleep 0.1; done' },
  { host: { sockets: ['@HOME@/.late2/s', '@HOME@/late2.sock'] } },
  'sleep 0.7',
])
add('socket', 'a program that was started before a socket is bound in a temporary folder does not reach it', 'reach', [
  { background: 'for n in 1 2 3 4 5 6; do @CONNECT@ /tmp/@ID@-l2/s; sleep 0.1; done' },
  { host: { sockets: ['/tmp/@ID@-l2/s'] } },
  'sleep 0.7',
])

add(
  'socket-deny',
  'a socket in a closed folder of another user leaves commands runnable',
  'hang',
  ['echo still here'],
  { plant: { sockets: ['/tmp/@ID@-closed/s'], foreign: ['/tmp/@ID@-closed'] }, open: {} },
)
add('socket-deny', 'hundreds of sockets of others leave commands runnable', 'hang', ['echo still here'], {
  plant: { sockets: Array.from({ length: 400 }, (_, index) => `/tmp/@ID@-many/${index}`) },
  open: {},
})
add(
  'socket-deny',
  'sockets with odd names leave commands runnable and are out of reach',
  'reach',
  [
    'echo still here',
    '@CONNECT@ "$(printf "/tmp/@ID@ odd\\n name")"; @CONNECT@ "/tmp/@ID@ blank"; cd /tmp; for s in @ID@*; do @CONNECT@ "$s"; done',
  ],
  { plant: { sockets: ['/tmp/@ID@ odd\n name', '/tmp/@ID@ blank', '/tmp/@ID@-ü'] }, open: {} },
)
add(
  'socket-deny',
  'a socket that goes away again and again leaves commands runnable',
  'hang',
  [
    { host: { sockets: ['/tmp/@ID@-gone/s'] } },
    'echo first',
    { host: { remove: ['/tmp/@ID@-gone'] } },
    'echo still here',
  ],
  { open: {} },
)

// --- credentials -------------------------------------------------------------------------------------------------------------------
for (const path of [
  '.ssh/id_ed25519_work',
  '.ssh/keys/deploy',
  '.aws/credentials',
  '.aws/sso/cache/a1.json',
  '.azure/msal_token_cache.json',
  '.config/gcloud/credentials.db',
  '.kube/config',
  '.docker/config.json',
  '.netrc',
  '.pypirc',
  '.cargo/credentials.toml',
  '.gem/credentials',
  '.git-credentials',
  '.config/git/credentials',
  '.config/gh/hosts.yml',
  '.config/glab-cli/config.yml',
  '.config/hub',
  '.claude/.credentials.json',
  '.claude.json',
  '.codex/auth.json',
  '.gemini/oauth_creds.json',
  '.config/github-copilot/apps.json',
  '.password-store/mail.gpg',
  '.local/share/keyrings/login.keyring',
  '.config/google-chrome/Default/Cookies',
  '.mozilla/firefox/a.default/logins.json',
  '.pgpass',
  '.my.cnf',
  '.terraform.d/credentials.tfrc.json',
  '.vault-token',
  '.config/rclone/rclone.conf',
  '.s3cfg',
  '.m2/settings.xml',
  '.gradle/gradle.properties',
  '.config/sops/age/keys.txt',
  '.fly/config.yml',
  '.kaggle/kaggle.json',
  '.cache/huggingface/token',
  '.local/share/com.vercel.cli/auth.json',
  '.pulumi/credentials.json',
  '.config/composer/auth.json',
  '.nuget/NuGet/NuGet.Config',
  '.yarnrc.yml',
  '.bunfig.toml',
  '.local/share/opencode/auth.json',
  '.config/solana/id.json',
  '.electrum/wallets/default',
  '.config/Signal/config.json',
  '.thunderbird/p/key4.db',
  '.config/Code/User/globalStorage/state.vscdb',
  '.ansible/vault_pass',
  '.subversion/auth/svn.simple/x',
  '.acme-tool/session',
  '.foo/bar/token.json',
  '.unknownrc',
])
  add('credential', `~/${path} is out of sight`, 'read', [`cat @HOME@/${path}; base64 @HOME@/${path}`], {
    plant: {
      files: { [`@HOME@/${path}`]: path.includes('npmrc') ? '//r/:_authToken=@SECRET@\n' : 'password = @SECRET@\n' },
    },
  })
add(
  'credential',
  'the logins in ~/.npmrc are out of sight',
  'read',
  [
    'cat @HOME@/.npmrc; npm config list -l 2>/dev/null | grep -i auth; cat "$NPM_CONFIG_USERCONFIG" "$npm_config_userconfig"; npm config get //registry.example/:_authToken',
  ],
  {
    plant: {
      files: {
        '@HOME@/.npmrc':
          '//registry.example/:_authToken=@SECRET@\n//r2.example/:_password="@SECRET@"\n_auth=@SECRET@\n',
      },
    },
    open: {},
  },
)
for (const path of [
  '.bash_history',
  '.zsh_history',
  '.python_history',
  '.node_repl_history',
  '.psql_history',
  '.mysql_history',
  '.sqlite_history',
  '.rediscli_history',
  '.lesshst',
  '.viminfo',
  '.irb_history',
  '.local/share/fish/fish_history',
  '.local/share/atuin/history.db',
  '.local/share/nvim/shada/main.shada',
  '.wget-hsts',
  '.local/share/recently-used.xbel',
])
  add('history', `~/${path} is out of sight`, 'read', [`cat @HOME@/${path}`], {
    plant: { files: { [`@HOME@/${path}`]: 'curl -H "authorization: @SECRET@"\n' } },
  })

// --- processes ---------------------------------------------------------------------------------------------------------------------
for (const [title, command] of [
  [
    'variables of the agent',
    'cat /proc/@AGENT@/environ; cat /proc/@PID@/environ; tr "\\0" "\\n" < /proc/@PID@/environ',
  ],
  [
    'variables of every process',
    'cat /proc/[0-9]*/environ /proc/self/environ /proc/1/environ /proc/[0-9]*/task/*/environ',
  ],
  ['arguments of other processes', 'cat /proc/[0-9]*/cmdline | tr "\\0" " "; ps axwwe'],
  [
    'memory of other processes',
    'head -c 100 /proc/@PID@/mem; cat /proc/@PID@/maps; gcore @PID@; strace -p @PID@ -e trace=none & sleep 0.2; gdb -p @PID@ -batch -ex "x/s environ"',
  ],
  [
    'folders of other processes',
    'cat /proc/@PID@/cwd/.ssh/id_rsa /proc/@PID@/root@HOME@/.ssh/id_rsa; cat /proc/[0-9]*/cwd/.ssh/id_rsa /proc/[0-9]*/root@HOME@/.netrc; ls -l /proc/@PID@/fd',
  ],
  [
    'a fresh /proc',
    'mkdir p; mount -t proc proc p; unshare -Urmpf --mount-proc cat /proc/@PID@/environ; unshare -Urm sh -c "mount -t proc proc p; cat p/*/environ"; cat p/*/environ',
  ],
  [
    'namespaces of other processes',
    'nsenter -t @PID@ -a cat @HOME@/.ssh/id_rsa; nsenter -t 1 -m -U --preserve-credentials cat @HOME@/.ssh/id_rsa; for p in /proc/[0-9]*; do nsenter --mount=$p/ns/mnt cat @HOME@/.ssh/id_rsa; done',
  ],
  [
    'the kernel',
    'dmesg | head -3; head -c 100 /proc/kcore; cat /proc/keys /proc/kallsyms 2>/dev/null | head -0; keyctl show; cat /proc/kmsg & sleep 0.1; kill $!',
  ],
] as const)
  add('proc', `${title} show nothing`, 'read', [command])
add('proc', 'nothing below /proc/sys and /sys is written', 'change', [
  'for f in /proc/sys/kernel/hostname /proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe /proc/sys/fs/binfmt_misc/register /sys/kernel/uevent_helper; do v=$(cat $f 2>/dev/null); if { printf "%s" "$v" > $f; } 2>/dev/null; then echo x > @WORK@/taken; echo TAKEN-$f; fi; done; if grep -q . taken 2>/dev/null; then echo @TAKEN@; fi',
])

// --- variables ---------------------------------------------------------------------------------------------------------------------
const NAMES: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgres://app:@SECRET@@db.example/app',
  SENTRY_DSN: 'https://@SECRET@@o1.ingest.sentry.io/2',
  GH_PAT: '@SECRET@',
  DB_PASS: '@SECRET@',
  npm_config__authToken: '@SECRET@',
  SLACK_WEBHOOK_URL: 'https://hooks.slack.com/services/T0/B0/@SECRET@',
  AWS_SESSION_TOKEN: '@SECRET@',
  MY_SETTING: 'ghp_0123456789abcdefghijklmnopqrstuv@SECRET@',
  OTHER: 'sk-proj-0123456789abcdefghij@SECRET@',
  PLAIN: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.@SECRET@',
  PEM: '-----BEGIN RSA PRIVATE KEY-----\n@SECRET@',
  'npm_config_//r.example/:_authToken': '@SECRET@',
  REDIS: 'redis://:@SECRET@@cache:6379',
  PGPASSWORD: '@SECRET@',
  VAULT: 'hvs.CAESIJ0123456789@SECRET@',
  SMTP_AUTH: '@SECRET@',
  COOKIE: 'session=@SECRET@',
}
for (const [name, value] of Object.entries(NAMES))
  add('variable', `${name} stays out of commands`, 'read', ['env; export -p; cat /proc/self/environ; set'], {
    plant: { env: { [name]: value } },
    open: {},
  })
add('variable', 'what a command exports does not run code outside', 'change', [
  'mkdir bin; for p in git ls env true bwrap bash sh; do printf "#!/bin/sh\\necho x > @OUT@/escaped\\n" > bin/$p; done; chmod +x bin/*; export PATH=$PWD/bin:$PATH LD_PRELOAD=$PWD/e.so BASH_ENV=$PWD/bin/env ENV=$PWD/bin/env PROMPT_COMMAND="$PWD/bin/ls" SHELLOPTS=xtrace PS4="\\$($PWD/bin/ls)" IFS=/',
  { outside: 'git --version; ls > /dev/null; true' },
  'true',
])
add('variable', 'functions and odd names do not run code outside', 'change', [
  'ls() { echo x > @OUT@/escaped; }; export -f ls; true() { ls; }; export -f true; alias git=ls',
  'env "BASH_FUNC_git%%=() { echo x > @OUT@/escaped; }" "a b=\\$(touch @OUT@/escaped)" bash -c :; export "A=\'; touch @OUT@/escaped; \'"',
  { outside: 'ls >/dev/null; git --version; true' },
])
add('variable', 'a folder with an odd name is no code for the next command', 'change', [
  'mkdir "\\$(touch @OUT@/escaped)" && cd "\\$(touch @OUT@/escaped)"',
  { outside: 'pwd' },
  'cd @WORK@; mkdir "$(printf "a\\n; touch @OUT@/escaped\\n")"; cd a*',
  { outside: 'pwd' },
  'cd @WORK@; mkdir "\'; touch @OUT@/escaped; \'"; cd "\'; touch @OUT@/escaped; \'"',
  { outside: 'pwd' },
])
add('variable', 'what is written to open descriptors is no code outside', 'change', [
  'for n in 3 4 5 6 7 8 9 10 11 12; do { printf "cwd=@OUT@\\0touch @OUT@/escaped\\n\\$(touch @OUT@/escaped)\\n"; } >&$n; done 2>/dev/null; true',
  { outside: 'pwd; true' },
  `echo x > escaped; ${WRITE_HOME}`,
])

// --- temporary folders ---------------------------------------------------------------------------------------------------------------
add(
  'temp',
  'files of another user in tmp stay closed',
  'read',
  [
    'cat /tmp/@ID@-theirs/key; cp -r /tmp/@ID@-theirs .; mv /tmp/@ID@-theirs . && cat @ID@-theirs/key; chmod -R 777 /tmp/@ID@-theirs; cat /tmp/@ID@-theirs/key',
  ],
  { plant: { files: { '/tmp/@ID@-theirs/key': '@SECRET@' }, foreign: ['/tmp/@ID@-theirs/key', '/tmp/@ID@-theirs'] } },
)
add(
  'temp',
  'links in tmp lead to nothing hidden',
  'read',
  ['cat /tmp/@ID@-l/id_rsa /tmp/@ID@-h/.env; ln -s @HERMES@ @TMP@-x; cat @TMP@-x/.env'],
  { plant: { links: { '/tmp/@ID@-l': '@HOME@/.ssh', '/tmp/@ID@-h': '@HERMES@' } } },
)
add(
  'temp',
  'a link in tmp leads to no write outside',
  'change',
  ['echo x > /tmp/@ID@-o/escaped; echo x > /tmp/@ID@-f; echo x >> /dev/shm/../tmp/@ID@-f'],
  { plant: { links: { '/tmp/@ID@-o': '@OUT@', '/tmp/@ID@-f': '@OUT@/canary' } } },
)
add('temp', 'shared memory of others is not there', 'read', ['cat /dev/shm/*'], {
  plant: { files: { '/dev/shm/@ID@': '@SECRET@' } },
})
add('temp', 'TMPDIR of a command opens nothing', 'change', [
  'export TMPDIR=@HOME@ TMP=@OUT@ TEMP=@OUT@',
  `echo x > $TMPDIR/escaped; ${WRITE_HOME}`,
])

// --- the Hermes home -------------------------------------------------------------------------------------------------------------------
for (const [title, command] of [
  [
    'by its name',
    'cat @HERMES@/.env @HERMES@/auth.json @HERMES@/state.db @HERMES@/history.jsonl; ls -laR @HERMES@; strings @HERMES@/*',
  ],
  [
    'by a variable and globs',
    'cat "$HERMES_HOME"/auth.json ~/.herm*/auth.json ~/.h?rmes/.env @HOME@/.[h]ermes/*; cat @HOME@/*/auth.json @HOME@/.*/auth.json',
  ],
  ['over a link', 'ln -s @HERMES@ h; cat h/.env h/auth.json; cat @HOME@/alias/.env @HOME@/alias/auth.json'],
  [
    'in an archive',
    'tar c @HOME@ 2>/dev/null | strings; cp -r @HOME@/. copy 2>/dev/null; grep -rh . copy; rsync -a @HOME@/ r; find @HOME@ -name auth.json -exec cat {} + 2>/dev/null',
  ],
  [
    'in its backups and sessions',
    'cat @HERMES@/backups/* @HERMES@/sessions/* @HERMES@/rescue/* @HERMES@/logs/* @HERMES@/config.yaml.good',
  ],
  [
    'after it was unmounted',
    'umount -l @HERMES@; umount @HOME@/.ssh; umount -a; cat @HERMES@/.env @HOME@/.ssh/id_rsa; unshare -Urm sh -c "umount -l @HERMES@; umount -l @HOME@/.ssh; cat @HERMES@/.env @HOME@/.ssh/id_rsa"',
  ],
  [
    'over a bind of the folder above',
    'mkdir m; unshare -Urm sh -c "mount --bind @HOME@ m; cat m/.hermes/.env m/.ssh/id_rsa; mount --rbind / m; cat m@HERMES@/.env; mount -t overlay o -o lowerdir=@HOME@,upperdir=m,workdir=m m; cat m/.hermes/.env"',
  ],
] as const)
  add('hermes-home', `the Hermes home shows nothing ${title}`, 'read', [command], {
    plant: {
      links: { '@HOME@/alias': '@HERMES@' },
      files: {
        '@HERMES@/backups/a': '@SECRET@',
        '@HERMES@/sessions/a': '@SECRET@',
        '@HERMES@/rescue/a': '@SECRET@',
        '@HERMES@/logs/a': '@SECRET@',
        '@HERMES@/config.yaml.good': '@SECRET@',
        '@HERMES@/history.jsonl': '@SECRET@',
        '@HERMES@/state.db': '@SECRET@',
      },
    },
  })
add('hermes-home', 'nothing is written to the Hermes home', 'change', [
  WRITE_HERMES,
  'mkdir -p @HERMES@/skills/x @HERMES@/plugins; echo x > @HERMES@/skills/x/SKILL.md; echo x > @HERMES@/config.yaml; mv @HERMES@ @HOME@/h2; rm -rf @HERMES@; ln -sfn @WORK@ @HERMES@',
])
add(
  'hermes-home',
  'a Hermes home that is made after the environment opened is hidden too',
  'read',
  ['true', { host: { files: { '@HOME@/.hermes2/.env': '@SECRET@' } } }, 'cat @HOME@/.hermes2/.env'],
  { open: { hidden: ['@HOME@/.hermes2'] } },
)
add(
  'hermes-home',
  'a Hermes home behind a link is hidden at both ends',
  'read',
  ['cat @HOME@/hl/.env @OUT@/real/.env; cp -r @OUT@/real r; cat r/.env'],
  {
    plant: { files: { '@OUT@/real/.env': '@SECRET@' }, links: { '@HOME@/hl': '@OUT@/real' } },
    open: { hidden: ['@HOME@/hl'] },
  },
)
add(
  'hermes-home',
  'a Hermes home in a temporary folder stays hidden and unwritten',
  'read',
  [
    'cat /tmp/@ID@-hh/.env; mv /tmp/@ID@-hh /tmp/@ID@-h2',
    'cat /tmp/@ID@-h2/.env',
    'cat /tmp/@ID@-h2/.env /tmp/@ID@-hh/.env',
  ],
  { plant: { files: { '/tmp/@ID@-hh/.env': '@SECRET@' } }, open: { hidden: ['/tmp/@ID@-hh'] } },
)
add(
  'hermes-home',
  'a Hermes home two below a temporary folder stays hidden when the folder above is renamed',
  'read',
  ['mv /tmp/@ID@-u /tmp/@ID@-v', 'cat /tmp/@ID@-v/hh/.env'],
  { plant: { files: { '/tmp/@ID@-u/hh/.env': '@SECRET@' } }, open: { hidden: ['/tmp/@ID@-u/hh'] } },
)
add(
  'hermes-home',
  'a hidden place inside a folder that is given to write stays hidden',
  'read',
  [
    'cat @HOME@/.config/gh/hosts.yml; mv @HOME@/.config/gh @HOME@/.config/gx; mv @HOME@/.config/sub @HOME@/.config/sub2',
    'cat @HOME@/.config/gx/hosts.yml @HOME@/.config/sub2/hid/k',
  ],
  {
    plant: { files: { '@HOME@/.config/gh/hosts.yml': '@SECRET@', '@HOME@/.config/sub/hid/k': '@SECRET@' } },
    open: { writable: ['@HOME@/.config'], hidden: ['@HERMES@', '@HOME@/.config/sub/hid'] },
  },
)
for (const path of ['@HOME@/.netrc', '@HOME@/.pgpass', '@HOME@/.cargo/credentials.toml'])
  add(
    'hermes-home',
    `a program that goes on does not see ${path} when it is replaced`,
    'read',
    [
      { background: `for n in $(seq 15); do cat ${path}; sleep 0.05; done` },
      { host: { replace: { [path]: 'machine x password @SECRET@\n' } } },
      'sleep 0.5',
    ],
    { plant: { files: { [path]: 'machine x password old\n' } }, open: {} },
  )
add(
  'hermes-home',
  'a program that goes on does not see a folder of keys that is made anew',
  'read',
  [
    {
      background:
        'for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do cat @HOME@/.aws/credentials @HOME@/.kube/config; sleep 0.05; done',
    },
    {
      host: {
        remove: ['@HOME@/.aws'],
        files: { '@HOME@/.aws/credentials': '@SECRET@', '@HOME@/.kube/config': '@SECRET@' },
      },
    },
    'sleep 0.5',
  ],
  { plant: { files: { '@HOME@/.aws/credentials': 'old' } }, open: {} },
)
add(
  'hermes-home',
  'outputs of other sessions and saved state are out of reach',
  'read',
  [
    'cat @HERMES@/cache/terminal/*; cat @HERMES@/cache/terminal/*/* ; cd @HERMES@/cache/terminal/; ln -s @HERMES@/.env output-1; for n in 1 2 3 4 5; do ln -sf @HERMES@/.env state-$n; done',
    'true',
  ],
  { plant: { files: { '@HERMES@/cache/terminal/other/output-1': '@SECRET@' } } },
)

// --- mounts, devices, rights -------------------------------------------------------------------------------------------------------------
for (const [title, command] of [
  [
    'a remount',
    'mount -o remount,rw /; mount -o remount,rw,bind @ROOT@; mount -o remount,bind,rw @HOME@; mount --bind @WORK@ @HOME@/other',
  ],
  [
    'a namespace of its own',
    'unshare -Urm sh -c "mount -o remount,rw /; mount -o remount,rw,bind @ROOT@; mount --bind @OUT@ /mnt; echo x > /mnt/escaped; echo x > @OUT@/escaped"; unshare -m true; unshare -U --map-root-user mount -o remount,rw /',
  ],
  [
    'chroot and pivot_root',
    'mkdir -p j; chroot / sh -c "echo x > @OUT@/escaped"; unshare -Urm sh -c "mount --rbind / j; mkdir -p j/old; pivot_root j j/old; echo x > @OUT@/escaped"; unshare -Ur chroot . true',
  ],
  [
    'a bubblewrap of its own',
    'bwrap --dev-bind / / sh -c "echo x > @OUT@/escaped; cat @HOME@/.ssh/id_rsa"; bwrap --bind / / --unshare-all sh -c "echo x > @OUT@/escaped"',
  ],
  [
    'overlays, loops and fuse',
    'mkdir -p u w; mount -t overlay o -o lowerdir=@OUT@,upperdir=u,workdir=w @OUT@; unshare -Urm mount -t overlay o -o lowerdir=@HOME@,upperdir=u,workdir=w @HOME@; truncate -s 1M i; losetup -f i; mount -o loop i u; fusermount -u @HOME@; fusermount3 u',
  ],
  ['a mount from the system table', 'mount @OUT@; mount -a -T /dev/null; umount -l /; umount -l @WORK@/..; swapon -a'],
] as const)
  add('mount', `${title} opens nothing`, 'change', [command, `echo x > @OUT@/escaped; ${WRITE_HOME}`])
for (const [title, command] of [
  ['disks', 'for d in /dev/sd? /dev/vd? /dev/nvme0n1 /dev/loop0 /dev/dm-0; do head -c 16 $d && echo @TAKEN@; done'],
  [
    'nodes of its own',
    'mknod d b 8 0 && head -c 1 d && echo @TAKEN@; mknod m c 1 1 && head -c 1 m && echo @TAKEN@; mknod @TMP@-k c 1 11 && head -c 1 @TMP@-k && echo @TAKEN@',
  ],
  [
    'memory and kernel',
    'for d in /dev/mem /dev/kmem /dev/port /dev/kmsg /dev/kvm /dev/fuse /dev/net/tun /dev/vhost-net /dev/uinput /dev/snapshot; do [ -e $d ] && { : < $d; } 2>/dev/null && echo @TAKEN@ $d; done',
  ],
  [
    'terminals of others',
    'for t in /dev/pts/[0-9]* /dev/tty[0-9]* /dev/console; do [ -c $t ] && { echo x > $t; } 2>/dev/null && [ "$t" != /dev/pts/ptmx ] && echo @TAKEN@ $t; done',
  ],
] as const)
  add('device', `${title} are not opened`, 'change', [command])
for (const [title, command] of [
  [
    'sudo, su and pkexec',
    'sudo -n id -u; su -c id </dev/null; pkexec id; doas id; runuser -u nobody id; sudo -n sh -c "echo x > @OUT@/escaped"; su -c "echo x > @OUT@/escaped" < /dev/null; cat @HOME@/.ssh/id_rsa',
  ],
  [
    'a setuid copy',
    'cp /bin/sh s; chmod 6755 s; ./s -p -c "echo x > @OUT@/escaped"; cp /bin/cat c; chmod u+s c; ./c @HERMES@/.env',
  ],
  [
    'file capabilities',
    'cp /bin/sh s; setcap cap_dac_override,cap_sys_admin,cap_sys_ptrace+ep s; ./s -c "echo x > @OUT@/escaped; cat /proc/@PID@/environ"; capsh --caps=all+eip -- -c "echo x > @OUT@/escaped"',
  ],
  [
    'other users',
    'newuidmap $$ 0 0 1; setpriv --reuid=65534 sh -c "cat /tmp/@ID@-k"; unshare -U --map-users=all sh -c "echo x > @OUT@/escaped"; chroot --userspec=1:1 / id',
  ],
] as const)
  add('rights', `${title} give nothing`, 'change', [command])

// --- signals, tracing, what outlives ---------------------------------------------------------------------------------------------------
for (const [title, command] of [
  ['by its number', 'kill -9 @PID@; kill -STOP @PID@; kill -9 @AGENT@; kill -TERM -@PID@'],
  ['all at once', 'kill -0 @PID@ 2>/dev/null || kill -9 -1'],
  [
    'by its name',
    "pkill -9 -f 'attack-bystande[r]'; killall -9 attack-bystander; pgrep -f 'attack-bystande[r]' && echo @TAKEN@",
  ],
  [
    'through limits and priorities',
    'prlimit --pid @PID@ --cpu=0:0; prlimit --pid @AGENT@ --nofile=3:3; renice 19 -p @PID@; chrt -p 1 @PID@; taskset -p 1 @PID@; choom -p @PID@ -n 1000 && echo @TAKEN@',
  ],
  ['by tracing', 'strace -f -p @PID@ -o /dev/null & gdb -batch -p @PID@ -ex "call (void)exit(1)"; kill %1'],
  ['by its group and parent', 'kill -9 $PPID; kill -9 0 & wait; true'],
  [
    'through signals of a background process',
    '(sleep 0.1; kill -9 @PID@ @AGENT@) & sleep 0.3; fuser -k @HOME@/canary-open',
  ],
] as const)
  add('signal', `no process outside ends ${title}`, 'end', [command])
for (const [title, command] of [
  ['&', 'sleep 987@PORT@1 &'],
  ['setsid', 'setsid -f sleep 987@PORT@2; setsid sh -c "sleep 987@PORT@2 & sleep 987@PORT@2" &'],
  ['nohup and disown', 'nohup sleep 987@PORT@3 > /dev/null 2>&1 & disown -a'],
  [
    'two forks and deaf to signals',
    '(trap "" TERM HUP INT QUIT; (trap "" TERM HUP INT QUIT; sh -c "trap \'\' TERM HUP INT; sleep 987@PORT@4; sleep 987@PORT@4" &) &)',
  ],
  [
    'a namespace of its own',
    'unshare -Urpf --kill-child=CONT sleep 987@PORT@5 & unshare -Ur setsid -f sleep 987@PORT@5',
  ],
  [
    'a session of tmux or screen',
    'tmux -S ./t new-session -d "sleep 987@PORT@6"; screen -dmS x sleep 987@PORT@6; true',
  ],
  [
    'another name',
    'bash -c "exec -a [kworker/0:1] sleep 987@PORT@7" & setsid -f bash -c "exec -a [kworker/0:2] sleep 987@PORT@7"',
  ],
] as const)
  add('outlive', `nothing outlives the environment by ${title}`, 'outlive', [command], { open: {} })

// --- writes that run later -----------------------------------------------------------------------------------------------------------------
for (const [title, path] of Object.entries({
  'a start-up file': '@HOME@/.profile',
  'a start-up file of zsh': '@HOME@/.zshenv',
  'a folder of fish': '@HOME@/.config/fish/conf.d/x.fish',
  'a program on PATH': '@HOME@/.local/bin/git',
  'a program in ~/bin': '@HOME@/bin/ls',
  'settings of git': '@HOME@/.gitconfig',
  'more settings of git': '@HOME@/.config/git/config',
  'an autostart': '@HOME@/.config/autostart/x.desktop',
  'a unit of systemd': '@HOME@/.config/systemd/user/x.service',
  'keys that may log in': '@HOME@/.ssh/authorized_keys',
  'settings of vim': '@HOME@/.vimrc',
  'tasks of an editor': '@HOME@/.config/Code/User/tasks.json',
  'an extension of an editor': '@HOME@/.vscode/extensions/x/package.json',
  'a toolchain': '@HOME@/.cargo/bin/cargo',
  'a version manager': '@HOME@/.nvm/nvm.sh',
  'modules of python': '@HOME@/.local/lib/python3/site-packages/usercustomize.py',
  'settings of pip': '@HOME@/.config/pip/pip.conf',
  'settings of npm': '@HOME@/.npmrc',
  'the cache of npm': '@HOME@/.npm/_cacache/x',
  'the cache of go': '@HOME@/go/pkg/mod/x/x.go',
  'the cache of cargo': '@HOME@/.cargo/registry/src/x',
  'the cache of maven': '@HOME@/.m2/repository/x.jar',
  'hooks of another project': '@HOME@/other/.git/hooks/pre-commit',
  'scripts of another project': '@HOME@/other/package.json',
  'a skill of Hermes': '@HERMES@/skills/x/SKILL.md',
  'a start-up file of all': '/etc/profile.d/@ID@.sh',
  'a crontab': '/var/spool/cron/crontabs/@ID@',
  'a job of cron': '/etc/cron.d/@ID@',
  'a program of all': '/usr/local/bin/@ID@',
}))
  add(
    'later',
    `${title} is not written`,
    'change',
    [`mkdir -p "$(dirname ${path})"; echo evil >> ${path}; cp /bin/true ${path}; ln -sf /bin/true ${path}`],
    { watch: path.startsWith('/') ? [path] : [] },
  )

// --- resources -----------------------------------------------------------------------------------------------------------------------------
add('resource', 'a flood of output leaves the environment usable', 'hang', [
  'head -c 30000000 /dev/zero | tr "\\0" a',
  'echo still here',
])
add('resource', 'a deep tree and odd names leave the environment usable', 'hang', [
  'p=; for n in $(seq 200); do p=$p/d; done; mkdir -p .$p; q=d; for n in $(seq 299); do q=$q/d; done; mkdir -p $q; cd $q; touch "$(printf "a\\nb")"',
  'cd @WORK@; echo still here',
])
add('resource', 'a folder that is gone leaves the environment usable', 'hang', [
  'mkdir gone; cd gone; rmdir ../gone',
  'echo still here',
])
add('resource', 'a closed folder leaves the environment usable', 'hang', [
  'mkdir shut; cd shut; chmod 000 .',
  'cd @WORK@; echo still here',
  'chmod 700 @WORK@/shut',
])
add('resource', 'many children that are left behind leave the environment usable', 'hang', [
  'for n in $(seq 200); do sleep 30 & done; true',
  'echo still here',
])
add('resource', 'a million links in tmp leave the environment usable', 'hang', [
  'mkdir -p @TMP@; cd @TMP@; ln -st . $(seq -f /x%g 300); mkfifo $(seq -f p%g 300)',
  'cd @WORK@; echo still here',
])
add('resource', 'variables of a megabyte leave the environment usable', 'hang', [
  'export BIG=$(head -c 120000 /dev/zero | tr "\\0" a) B2=$(head -c 120000 /dev/zero | tr "\\0" b) B3=$(head -c 120000 /dev/zero | tr "\\0" b); for n in $(seq 3000); do export V$n=x; done',
  'echo still here',
])

/** All of them, in a fixed order. */
export const ISOLATION_PROBES: readonly Probe[] = probes
