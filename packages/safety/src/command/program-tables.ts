// What programs are, as the rules see them: data alone.

const words = (text: string): readonly string[] => Object.freeze(text.trim().split(/\s+/))
const setOf = (text: string): ReadonlySet<string> => new Set(words(text))
/** Items of several words, with commas between them. */
const phrases = (text: string): readonly string[] => Object.freeze(text.trim().split(/,\s*/))

/** A program that runs another one. */
export interface Wrapper {
  /** Options whose value is the next word. */
  readonly valued?: readonly string[]
  /** Words of its own before the command. */
  readonly positional?: number
  readonly assignments?: boolean
  /** Words of its own that stand among its options. */
  readonly own?: RegExp
  readonly elevates?: boolean
  /** It runs a command only behind one of these words. */
  readonly verbs?: readonly string[]
  /** With one of these it does not run the command. */
  readonly query?: readonly string[]
  /** What it runs begins in the home folder of another account. */
  readonly login?: RegExp
}

/** Options that name the folder which a program goes to before it runs or does what it is told. */
const FOLDER_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  ...each('env start-stop-daemon', ['-C', '--chdir']),
  ...each('sudo run0', ['-D', '--chdir']),
  ...each('bwrap', ['--chdir']),
  ...each('systemd-run', ['--working-directory']),
  ...each('nsenter unshare', ['--wd']),
  ...each('parallel', ['--wd', '--workdir']),
  ...each('watchexec', ['--workdir']),
  ...each('daemonize', ['-c']),
  ...each('uv', ['--directory']),
  ...each('conda mamba', ['--cwd']),
  ...each('mise', ['-C', '--cd']),
  ...each('poetry', ['-C', '--directory']),
  ...each('git', ['-C']),
  ...each('make gmake bmake ninja', ['-C', '--directory']),
  ...each('tar bsdtar', ['-C', '--directory', '--cd']),
  ...each('just', ['-d', '--working-directory']),
  ...each('task', ['-d', '--dir']),
  ...each('npm', ['-C', '--prefix']),
  ...each('pnpm', ['-C', '--dir', '--prefix']),
  ...each('yarn bun', ['--cwd']),
  ...each('tmux', ['-c']),
}

const PLACED = words('-t --target-directory -S')

/** Options whose value is a command, by the program that takes them. A long one may be shortened, and its value may stand behind `=`. */
const COMMAND_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  mapfile: ['-C'],
  readarray: ['-C'],
  compgen: ['-C'],
  complete: ['-C'],
  nodemon: ['-x', '--exec'],
  'nix-shell': ['--run', '--command'],
  su: ['-c', '--command', '--session-command'],
  runuser: ['-c', '--command', '--session-command'],
  script: ['-c', '--command'],
  scriptlive: ['-c', '--command'],
  flock: ['-c', '--command'],
  sg: ['-c'],
  setpriv: ['-c'],
  npx: ['-c', '--call'],
  npm: ['-c', '--call'],
  expect: ['-c'],
  fish: ['-C', '--init-command', '--command'],
  tar: ['-I', '--use-compress-program', '--to-command', '-F', '--info-script', '--rsh-command'],
  bsdtar: ['--use-compress-program'],
  split: ['--filter'],
  sort: ['--compress-program'],
  rsync: ['-e', '--rsh', '--rsync-path'],
  scp: ['-S'],
  sftp: ['-S', '-D'],
  man: ['-P', '--pager', '-H', '--html'],
  bat: ['--pager'],
  delta: ['--pager'],
  fzf: ['--preview'],
  rg: ['--pre', '--hostname-bin'],
  ncat: ['-e', '--exec', '-c', '--sh-exec'],
  nc: ['-e', '-c'],
  netcat: ['-e', '-c'],
  entr: ['-s'],
  go: ['-exec', '-toolexec', '-vettool'],
  strace: ['-o'],
  ansible: ['-a', '--args'],
  vagrant: ['-c', '--command'],
  gcloud: ['--command'],
  svn: ['--diff-cmd', '--editor-cmd', '--diff3-cmd'],
  dc: ['-e'],
  wget: ['--use-askpass'],
  'start-stop-daemon': ['-x', '--exec', '-a', '--startas'],
  zip: ['-TT', '--unzip-command'],
  nu: ['-c', '--commands'],
  xonsh: ['-c'],
  elvish: ['-c'],
}

/** Programs that run code in other languages, and the options that give it inline. */
const INTERPRETERS: Readonly<Record<string, readonly string[]>> = {
  python: ['-c'],
  node: ['-e', '--eval', '-p', '--print'],
  deno: ['eval'],
  bun: ['-e', '--eval'],
  ruby: ['-e'],
  perl: ['-e', '-E'],
  php: ['-r'],
  lua: ['-e'],
  luajit: ['-e'],
  tsx: ['-e', '--eval', '-p', '--print'],
  'ts-node': ['-e', '--eval', '-p', '--print'],
  elixir: ['-e', '--eval', '--rpc-eval'],
  erl: ['-eval'],
  julia: ['-e', '-E', '--eval', '--print'],
  R: ['-e'],
  Rscript: ['-e'],
  octave: ['--eval'],
  gnuplot: ['-e'],
  groovy: ['-e'],
  scala: ['-e'],
  clojure: ['-e', '--eval'],
  ghc: ['-e'],
  guile: ['-c'],
  sbcl: ['--eval'],
  tclsh: [],
  emacs: ['--eval', '-eval', '--execute'],
  swift: ['-e'],
  crystal: ['eval'],
  nim: ['--eval'],
  raku: ['-e'],
  osascript: ['-e'],
  pwsh: ['-c', '-Command'],
  powershell: ['-c', '-Command'],
}

/** Programs that run another one, and how they are told which. */
const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  sudo: {
    valued: words('-u -g -h -p -C -r -t -T -U -R --user --group --prompt'),
    assignments: true,
    elevates: true,
    login: /^(?:-[a-zA-Z]*i|--login)$/,
  },
  doas: { valued: ['-u', '-C'], elevates: true },
  pkexec: { valued: ['--user'], elevates: true },
  env: { valued: ['-u', '--unset'], assignments: true },
  run0: {
    valued: ['-u', '--user', '-g', '--group', '--unit', '--description', '--slice', '--setenv'],
    elevates: true,
  },
  // On macOS; elsewhere it says what the machine is. `-arch` is read by its last letter.
  arch: { valued: ['-h', '-e', '-d'] },
  nohup: {},
  nice: { valued: ['-n'] },
  ionice: { valued: ['-c', '-n', '-p'] },
  time: { valued: ['-f', '-o'] },
  timeout: { valued: ['-s', '-k', '--signal', '--kill-after'], positional: 1 },
  gtimeout: { valued: ['-s', '-k'], positional: 1 },
  stdbuf: { valued: ['-i', '-o', '-e'] },
  setsid: {},
  exec: { valued: ['-a'] },
  command: { query: ['-v', '-V'] },
  builtin: {},
  coproc: {},
  chroot: { positional: 1 },
  // Of `cmake -E`.
  chdir: { positional: 1 },
  unshare: {},
  strace: { valued: ['-e', '-o', '-p', '-s', '-u'] },
  watch: { valued: ['-n', '--interval'] },
  flock: { valued: ['-w', '-E'], positional: 1 },
  nsenter: { valued: ['-t', '--target', '-S', '-G'] },
  setarch: { own: /^(?:x86_64|i[3-6]86|aarch64|arm\w*|ppc\w*|s390x?|linux(?:32|64)|uname26)$/ },
  linux32: {},
  linux64: {},
  prlimit: { valued: ['-o', '--output'] },
  choom: { valued: ['-n', '--adjust'] },
  cgexec: { valued: ['-g'] },
  chpst: { valued: ['-u', '-U', '-b', '-e', '-d', '-o', '-p', '-f', '-c', '-r', '-t', '-m', '-l', '-L', '-n'] },
  daemonize: { valued: ['-e', '-o', '-p', '-l', '-u', '-E'] },
  perf: { verbs: ['stat', 'record', 'trace'], valued: ['-e', '-o', '-r', '-F', '-C'] },
  'ssh-agent': { valued: ['-a', '-E', '-O', '-P', '-t'] },
  'dbus-launch': {},
  tini: { valued: ['-p', '-e'] },
  'dumb-init': {},
  catchsegv: {},
  watchexec: { valued: ['-w', '-e', '-f', '-i', '-s', '-d', '-W'] },
  dotenv: { valued: ['-e', '-f', '-c', '-v', '-p'] },
  mise: { verbs: ['exec', 'x'], own: /@/ },
  direnv: { verbs: ['exec'], positional: 1 },
  'aws-vault': { verbs: ['exec'], positional: 1 },
  conda: { verbs: ['run'], valued: ['-n', '-p', '--name', '--prefix'] },
  mamba: { verbs: ['run'], valued: ['-n', '-p', '--name', '--prefix'] },
  taskset: { positional: 1 },
  chrt: { valued: ['-T', '-P', '-D'], positional: 1 },
  numactl: { valued: ['-N', '-m', '-i', '-C', '--cpunodebind', '--membind', '--interleave', '--physcpubind'] },
  cpulimit: { valued: ['-l', '-p', '-e'] },
  'systemd-run': { valued: ['-u', '-p', '-t', '-E', '-H', '-M', '--unit', '--property', '--setenv', '--uid', '--gid'] },
  'systemd-inhibit': {},
  firejail: {},
  fakeroot: {},
  eatmydata: {},
  faketime: { valued: ['-f'], positional: 1 },
  torsocks: {},
  torify: {},
  proxychains: { valued: ['-f'] },
  proxychains4: { valued: ['-f'] },
  gosu: { positional: 1, elevates: true },
  'su-exec': { positional: 1, elevates: true },
  setpriv: { valued: ['--reuid', '--regid', '--groups'] },
  'xvfb-run': { valued: ['-n', '-s', '-e', '-f', '-p', '-w'] },
  'dbus-run-session': {},
  unbuffer: {},
  rlwrap: {},
  valgrind: {},
  ltrace: { valued: ['-e', '-o', '-p', '-s', '-u'] },
  entr: {},
  'cross-env': { assignments: true },
  uv: { verbs: ['run'], valued: ['--with', '--python', '-p', '--project', '--extra', '--group'] },
  poetry: { verbs: ['run'] },
  pipenv: { verbs: ['run'] },
  pdm: { verbs: ['run'] },
  rye: { verbs: ['run'] },
  bundle: { verbs: ['exec'] },
  pnpm: { verbs: ['exec'] },
  busybox: {},
  toybox: {},
  caffeinate: { valued: ['-t', '-w'] },
  xargs: {
    valued: ['-I', '-n', '-P', '-L', '-d', '-E', '-s', '-a', '--max-args', '--max-procs', '--delimiter', '--arg-file'],
  },
  parallel: { valued: ['-j', '-S', '--jobs', '-a', '--colsep'] },
}

/** Options whose value is the next word, of programs that write what they name. */
const WRITERS: Readonly<Record<string, readonly string[]>> = {
  cp: PLACED,
  mv: PLACED,
  ln: PLACED,
  install: [...PLACED, '-m', '-o', '-g'],
  touch: ['-r', '-t', '-d'],
  truncate: ['-s', '-r'],
  shred: ['-n', '-s'],
  uniq: ['-f', '-s', '-w'],
  xxd: ['-c', '-g', '-l', '-n', '-o', '-s', '-R'],
}

/** Words that are said one behind the other: one of the first list, one of the second. */
type Verbs = readonly (readonly string[])[]

const PODS: readonly Verbs[] = [
  [['ps', 'logs', 'inspect', 'images', 'stats', 'top', 'port', 'info', 'version']],
  [
    ['container', 'image', 'volume', 'network'],
    ['ls', 'inspect'],
  ],
]
const COMPOSE = ['ps', 'logs', 'images', 'top', 'port', 'ls']
const CLUSTER: readonly Verbs[] = [
  [['get', 'logs', 'describe', 'top', 'explain', 'version', 'api-resources']],
  [['rollout'], ['status', 'history']],
]

/** What programs that need the world around the workspace only show. */
const SHOWING: Readonly<Record<string, readonly Verbs[]>> = {
  docker: [...PODS, [['compose'], COMPOSE]],
  podman: PODS,
  nerdctl: PODS,
  'docker-compose': [[COMPOSE]],
  'podman-compose': [[COMPOSE]],
  kubectl: CLUSTER,
  oc: CLUSTER,
  gh: [
    [
      ['pr', 'issue', 'run', 'release', 'repo', 'workflow', 'label'],
      ['view', 'list', 'checks', 'watch', 'status', 'diff'],
    ],
    [['search'], ['prs', 'issues', 'repos', 'code', 'commits']],
    [['status']],
  ],
  glab: [
    [
      ['mr', 'issue', 'ci', 'release', 'repo'],
      ['view', 'list', 'status', 'diff'],
    ],
  ],
}

/** Other short options whose value is where something is put. */
const SHORT_PLACES: Readonly<Record<string, string>> = {
  ...each('javac kotlinc scalac unzip', 'd'),
  ...each('pip pip3', 'dtw'),
  ...each('uv', 't'),
  ...each('yt-dlp youtube-dl', 'P'),
  ...each('tcpdump tshark dumpcap', 'w'),
  ...each('pg_dump pg_dumpall', 'f'),
  ...each('conda mamba micromamba', 'p'),
  ...each('gem', 'in'),
  ...each('cpio', 'DO'),
  ...each('patch', 'do'),
  ...each('jar', 'f'),
  ...each('csplit', 'f'),
  ...each('mktemp', 'p'),
  ...each('mysqldump mariadb-dump', 'r'),
}

function each<Value>(programs: string, value: Value): Record<string, Value> {
  return Object.fromEntries(programs.split(' ').map((program) => [program, value]))
}

/** Lists of programs, and tables of their options, by what a rule wants to know. */
export const PROGRAMS = Object.freeze({
  /** Programs whose words are text for people or for another machine, and never a command of this one. */
  say: setOf(`
    echo printf grep egrep fgrep zgrep rg ag ack jq yq gh glab hub curl wget http https xh test [ [[ expr say notify-send logger wall
    write which whereis whatis apropos type man info help tldr ls cat head tail wc tr cut sort uniq column fold nl basename dirname
    export declare typeset local readonly alias set unset read : true false figlet cowsay toilet banner pbcopy xclip wl-copy fgconsole
    hermes claude codex gemini aider llm ollama trans aspell spell look bc factor seq
  `),
  /** Programs of which it is known what they do to the paths they are given: rules look at them, or they change nothing by a path alone. */
  known: setOf(`
    cd pushd popd dirs pwd exit return break continue shift wait jobs fg bg disown kill umask ulimit times hash command builtin exec eval
    source . trap let (( getopts mapfile readarray compgen complete shopt enable bind history fc suspend logout time coproc

    rm rmdir unlink shred srm wipe cp mv ln install mkdir touch truncate dd tee chmod chown chgrp chattr lsattr setfacl getfacl stat file
    find fd fdfind locate updatedb tree du df ncdu realpath readlink mktemp mkfifo sync split csplit cmp diff colordiff sdiff comm join
    paste patch sed gsed awk gawk mawk nawk perl ed ex vi vim nvim view nano emacs micro less more bat batcat most tac rev od xxd hexdump
    strings base64 base32 basenc md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum shasum openssl gpg gpg2 age
    dos2unix unix2dos tar bsdtar zip unzip gzip gunzip zcat bzip2 bunzip2 xz unxz xzcat zstd unzstd 7z 7za unrar ar cpio zipinfo lz4
    rsync scp sftp ssh ssh-keygen ssh-add ssh-copy-id ssh-keyscan mosh ftp nc ncat netcat socat telnet rclone

    git hg svn fossil jj tig lazygit git-lfs gitk delta svnadmin pre-commit lefthook husky
    bash sh zsh dash ksh fish env xargs parallel nohup nice timeout watch make gmake ninja cmake ctest meson bazel buck just task rake
    npm npx pnpm pnpx yarn bun bunx corepack node nodejs deno tsx ts-node tsc esbuild vite vitest jest mocha playwright cypress eslint
    biome prettier next nuxt astro turbo nx lerna webpack rollup parcel nodemon pm2 nvm fnm volta n storybook svelte-kit
    python python2 python3 pip pip3 pipx uv uvx poetry pipenv pdm rye hatch conda mamba micromamba virtualenv venv pyenv tox nox pytest
    ruff black isort mypy pyright pylint flake8 bandit ipython jupyter jupyter-lab flask django-admin uvicorn gunicorn streamlit celery
    ruby gem bundle bundler irb rails rspec rubocop rbenv php composer artisan phpunit lua luajit luarocks R Rscript julia elixir mix iex
    erl rebar3 ghc cabal stack ghcup java javac jar javap mvn gradle gradlew sbt scala kotlinc kotlin groovy ant swift swiftc xcodebuild
    go gofmt golangci-lint dlv cargo rustc rustup rustfmt zig nim crystal dotnet nuget gcc g++ cc c++ clang clang++ ld nm objdump
    objcopy readelf ldd size strip gdb lldb valgrind perf strace ltrace protoc buf flutter dart pod fvm

    docker docker-compose podman podman-compose nerdctl buildah skopeo kubectl helm k9s kind minikube kustomize terraform tofu pulumi
    ansible ansible-playbook vagrant packer aws gcloud gsutil az doctl heroku fly flyctl vercel netlify wrangler firebase supabase
    psql pg_dump pg_restore createdb dropdb mysql mysqldump mariadb sqlite3 redis-cli mongosh mongo mongodump mongorestore duckdb

    ps top htop pgrep pkill killall lsof fuser free uptime vmstat iostat who w whoami id groups hostname uname date cal arch nproc lscpu
    lsblk env printenv locale tty stty clear reset tput sleep yes seq tmux screen script open xdg-open code cursor subl idea explorer
    systemctl service journalctl launchctl loginctl crontab at batch apt apt-get dpkg dnf yum rpm pacman zypper apk brew port snap
    flatpak nix nix-shell nix-build nix-env mount umount sudo su doas ip ifconfig ping dig nslookup host traceroute netstat ss route

    ffmpeg ffprobe convert magick identify mogrify pandoc pdftotext pdfinfo pdftoppm qpdf gs latex pdflatex xelatex latexmk tesseract sox
    exiftool inkscape dot graphviz gnuplot imagemagick optipng pngquant cwebp jpegoptim rsvg-convert youtube-dl yt-dlp
    shellcheck shfmt hadolint yamllint markdownlint cspell codespell tokei cloc scc hyperfine wrk ab k6 act asdf mise direnv fzf zoxide
    eza exa lsd z dust procs hexyl pv entr watchexec
  `),
  /** Programs that build or change the project that they are told, and run what that one says. */
  builders: setOf(`
    cmake ctest meson bazel bazelisk buck ant sbt mvn mvnw gradle gradlew go cargo dotnet swift xcodebuild tox nox pytest py.test jest
    vitest mocha tsc next nuxt astro vite nx turbo lerna webpack rollup parcel pdm uv poetry hatch pipenv bundle rake stack cabal mix
    zig composer rails django-admin flutter dart hg svn jj fossil coverage terraform tofu make gmake ninja just task npm pnpm yarn bun
    latexmk hugo jekyll cypress playwright pre-commit
  `),
  /** Programs that read a shell script from an argument, a file or standard input. */
  shells: words('sh bash dash zsh ksh mksh ash fish tcsh csh rbash'),
  /** Programs that bring text from other machines. */
  fetchers: words('curl wget aria2c http https xh fetch lynx nc ncat netcat socat ftp telnet'),
  /** Programs that run what they are given with more rights. */
  elevators: words('sudo doas pkexec su runuser runas sudoedit'),
  /** Programs that do nothing by themselves. */
  idle: setOf('cd pushd popd pwd echo printf true : set sleep'),
  /** Programs that only look. */
  look: setOf(`
    ls cat head tail wc nl grep egrep fgrep rg sort uniq cut tr diff cmp test [ [[ false exit date whoami id uname which type stat du df
    jq basename dirname realpath readlink
  `),
  /** What git does with a repository alone. It runs hooks and filters of the repository, as every other command of git there. */
  localGit: setOf('add commit status diff log show rev-parse describe branch tag stash mv rm checkout switch'),
  /** No argument makes these change a file or start a program. */
  onlyLook: words(`
    ls cat head tail wc nl grep egrep fgrep zcat cut tr cmp comm join paste fold rev tac od strings column expand seq jq stat du df diff
    basename dirname realpath readlink which type whereis command whoami id groups uname nproc uptime ps pgrep printenv locale arch
    getconf tty false exit return break continue test [ [[ read env md5sum sha1sum sha256sum sha512sum cksum wait
  `),
  /** Programs that only look when they are asked for their version. */
  showVersion: words(`
    node npm pnpm yarn bun deno tsc python python3 pip pip3 uv ruby perl php go rustc cargo java javac gcc g++ clang make cmake docker
  `),
  /** What git does that changes nothing. */
  lookingGit: setOf(`
    status log show diff rev-parse rev-list describe ls-files ls-tree blame shortlog cat-file grep name-rev merge-base for-each-ref
    show-ref count-objects diff-tree diff-index check-ignore version
  `),
  /** Programs that look at names, not into files. */
  namesOnly: words(`
    ls stat test [ [[ chmod chown du basename dirname readlink realpath echo printf rm touch mkdir
  `),
  /** Programs that say such a name and open nothing. */
  sayNames: setOf('echo printf git gh glab say ls stat hermes'),
  /** Programs that open what lies below a folder they are given. */
  goThrough: setOf('grep egrep rg ag find fd cp tar rsync zip cpio scp'),
  /** Programs that are given keys to log in with, or only their names. */
  logIn: setOf(`
    ssh ssh-add ssh-keygen ssh-copy-id sftp mosh cd pushd export declare k9s gh aws say find fd tree alias hermes
  `),
  /** Programs that take a folder with everything in it. */
  takeFolders: setOf('cp mv ln tar bsdtar zip 7z 7za rsync scp cpio grep egrep rg ag rclone'),
  /** Without operands these print all variables. */
  printVariables: setOf('env printenv set export declare typeset'),
  /** What a package manager does with its registries alone, as `PROGRAM VERB`: they are reached without a question where the network is off. */
  atRegistries: phrases(`
    npm ci, npm install, npm i, npm add, npm update, npm outdated, npm audit, npm view, pnpm install, pnpm i, pnpm add, pnpm update,
    pnpm fetch, yarn, yarn add, yarn install, bun install, bun add, deno cache, deno install, pip install, pip download, pip3 install,
    pip3 download, uv sync, uv lock, uv add, uv pip, poetry install, poetry add, poetry lock, poetry update, pdm install,
    pipenv install, cargo build, cargo test, cargo check, cargo fetch, cargo add, cargo update, cargo clippy, cargo bench, cargo doc,
    go build, go test, go get, go mod, go vet, bundle install, bundle update, composer install, composer update, composer require,
    mvn compile, mvn test, mvn package, mvn verify, mvnw test, mvnw package, mvnw verify, gradle build, gradle test, gradle check,
    gradlew build, gradlew test, gradlew check, dotnet restore, dotnet build, dotnet test, dotnet add, swift build, swift test,
    mix deps.get, dart pub, flutter pub
  `),
  /** Tests and builds that go on without a network, and may have it behind an installation on the same line. */
  besideInstallations: new Set<string>(
    phrases(`
    npm test, npm t, npm run, pnpm test, pnpm run, yarn test, yarn run, bun test, bun run, uv run, pytest, tox, make, go env, go list
  `),
  ),
  /** Programs that reach no other machine by themselves, or do so with one of these verbs only for what they build. */
  keepToMachine: new Set<string>([
    ...words(`
    ls cat head tail wc nl grep egrep fgrep rg zcat cut tr cmp comm join paste fold rev tac od strings column expand seq jq stat du df
    diff basename dirname realpath readlink which type whereis command whoami id groups uname nproc uptime ps pgrep printenv locale arch
    getconf tty false exit return break continue test [ [[ read env md5sum sha1sum sha256sum sha512sum cksum wait date hostname file xxd
    find fd tree sort uniq awk gawk mawk tee cp mv rm mkdir rmdir touch chmod chown ln install truncate mktemp tar gzip gunzip zip unzip
    xz bzip2 patch split kill pkill sleep yes time lsof free export unset
    tsc eslint prettier biome oxlint vitest jest mocha ava pytest tox nox ruff black mypy pyright flake8 pylint isort gcc g++ clang cc
    make cmake ninja meson rustc rustfmt gofmt javac shellcheck shfmt vite webpack rollup esbuild turbo nx sqlite3
    `),
    ...phrases(`
    npm test, npm t, npm run, npm ls, npm pkg, pnpm test, pnpm run, pnpm ls, pnpm list, pnpm exec, yarn test, yarn run, bun test,
    bun run, uv run, pip list, pip show, pip freeze, pip check, cargo build, cargo test, cargo check, cargo clippy, cargo bench,
    cargo doc, cargo fmt, cargo run, cargo tree, go build, go test, go vet, go fmt, go run, go list, mvn compile, mvn test, mvn package,
    mvn verify, mvnw test, mvnw package, mvnw verify, gradle build, gradle test, gradle check, gradlew build, gradlew test,
    gradlew check, dotnet build, dotnet test, swift build, swift test
    `),
  ]) as ReadonlySet<string>,
  /** Programs that do nothing without a network. */
  networkClients: setOf(`
    curl wget http https xh aria2c ping ping6 traceroute dig nslookup host whois nc ncat netcat socat telnet ftp lftp ssh scp sftp rsync
    mosh npx pnpx bunx uvx pipx gh glab aws gcloud az kubectl helm psql mysql redis-cli mongosh yt-dlp huggingface-cli hf ollama
  `),
  /** What git does with another repository. */
  remoteGit: words('clone fetch pull push ls-remote submodule lfs'),
  /** Ways to another machine. */
  remoteShells: words('ssh sftp mosh nc ncat netcat socat telnet ftp lftp'),
  /** Programs that send mail. */
  mailers: words('mail mailx sendmail mutt msmtp swaks'),
  /** Programs that put files elsewhere. */
  clouds: words('aws gcloud gsutil az rclone s3cmd azcopy wrangler vercel netlify'),
  /** Programs that ask others for a name, which may carry text. */
  lookups: words('dig nslookup host ping getent'),
  /** Programs that install others. */
  installers: words('pip pip3 pipx uv npm npx pnpm yarn bun bunx gem cargo go brew apt apt-get dnf yum'),
  /** Programs that send SQL to a database. */
  sqlClients: words('psql mysql mariadb sqlite3 sqlcmd duckdb clickhouse-client cockroach pgcli mycli'),
  /** Programs that put what they are given into a database, which may be on another machine. */
  databaseClients: words(`
    psql pg_restore mysql mariadb mysqlimport sqlcmd clickhouse-client cockroach pgcli mycli redis-cli valkey-cli mongosh mongo mongorestore
    mongoimport cqlsh influx
  `),
  /** Programs that change accounts, the kernel or what is mounted. */
  accounts: words(`
    visudo vipw chpasswd useradd adduser usermod userdel deluser groupadd groupmod groupdel gpasswd chsh newgrp passwd setenforce insmod
    rmmod swapoff umount setcap
  `),
  /** Package managers of systems. */
  systemPackages: words('apt apt-get dnf yum zypper apk brew snap flatpak'),
  /** Modules of Python that write nothing but what they are for. */
  plainModules: setOf(`
    venv pip json.tool pytest unittest ensurepip virtualenv timeit py_compile compileall black ruff mypy flake8 pylint isort build tox
    nox sysconfig site pdb cProfile
  `),
  /** Programs that can look into another one. */
  memoryReaders: words(`
    gdb lldb cgdb gcore strace ltrace ptrace py-spy jmap jstack jcmd rbspy pmap procdump vmmap sample reptyr perf bpftrace frida
    frida-trace dtruss dtrace leaks
  `),
  /** Programs that delete whole folders. */
  deleters: words(`
    rimraf del-cli del trash trash-put rmtrash rip gio kioclient kioclient5 remove_directory rm-rf
  `),
  /** Programs that can let another machine in. */
  doorOpeners: words(`
    nc ncat netcat socat ssh ssh-copy-id ssh-import-id ssh-import-id-gh autossh ngrok cloudflared lt localtunnel bore frpc tailscale chisel pagekite telebit
    teleconsole tmate upterm gsocket gs-netcat
  `),
  /** Programs that start and stop services. */
  serviceManagers: words('systemctl service launchctl rc-service sv sc net brew supervisorctl pm2'),
  /** Programs that can end those of a person. */
  processEnders: words(`
    pkill killall kill skill systemctl service launchctl loginctl tmux screen pm2 supervisorctl xargs gdb
  `),
  /** Programs that rebuild databases. */
  databaseTools: words(`
    rails rake bundle php artisan prisma sequelize sequelize-cli knex drizzle-kit npx npm pnpm yarn bun bunx python python3 manage.py
    alembic supabase
  `),
  /** Programs that publish packages. */
  publishers: words(`
    npm pnpm yarn bun cargo twine gem poetry uv hatch flit nuget dotnet mvn lerna changeset vsce ovsx jsr npx
  `),
  /** Programs that change clusters and clouds. */
  infrastructure: words(`
    kubectl helm terraform tofu pulumi aws gcloud az gh gsutil flyctl fly heroku vercel firebase supabase netlify wrangler doctl eb sam
    cdk serverless sls amplify railway render neonctl pscale turso linode-cli hcloud scw oci ibmcloud cf eksctl oc nomad consul etcdctl
    argocd flux istioctl databricks snow b2 s3cmd
  `),
  /** Programs whose `-o` is a switch, names a format, or takes settings. */
  withoutOutput: new Set(
    words(
      'unzip find fd mount ssh scp sftp sshfs ps set shopt date sort pgrep journalctl kubectl oc last lsblk findmnt od strings nm lsof ss',
    ),
  ) as ReadonlySet<string>,
  commandOptions: COMMAND_OPTIONS,
  folderOptions: FOLDER_OPTIONS,
  showing: SHOWING,
  shortPlaces: SHORT_PLACES,
  interpreters: INTERPRETERS,
  wrappers: WRAPPERS,
  writers: WRITERS,
})
