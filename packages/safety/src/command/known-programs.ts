/** The words of a text. */
const words = (text: string): readonly string[] => text.trim().split(/\s+/)

/** Programs whose words are text for people or for another machine, and never a command of this one. */
const SAYS: ReadonlySet<string> = new Set(
  words(`
    echo printf grep egrep fgrep zgrep rg ag ack jq yq gh glab hub curl wget http https xh test [ [[ expr say notify-send logger wall
    write which whereis whatis apropos type man info help tldr ls cat head tail wc tr cut sort uniq column fold nl basename dirname
    export declare typeset local readonly alias set unset read : true false figlet cowsay toilet banner pbcopy xclip wl-copy fgconsole
    hermes claude codex gemini aider llm ollama trans aspell spell look bc factor seq
  `),
)

/** Whether the words of a program say something instead of naming what to run. */
export function onlySays(name: string): boolean {
  return SAYS.has(name)
}

/** Programs of which it is known what they do to the paths they are given: rules look at them, or they change nothing by a path alone. */
const KNOWN: ReadonlySet<string> = new Set(
  words(`
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
    biome prettier next nuxt astro turbo nx lerna webpack rollup parcel serve nodemon pm2 nvm fnm volta n storybook svelte-kit
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
)

/** Whether a program is one of those that rules know, or that do nothing to a path by being given it. */
export function isKnownProgram(name: string): boolean {
  return KNOWN.has(name) || SAYS.has(name) || /^(?:python|pip|lua|ruby|php|node|clang|gcc|g\+\+)[\d.-]+$/.test(name)
}
