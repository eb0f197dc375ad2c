/** A file or folder below the home folder where a program keeps keys, tokens, or what was typed. */
export interface CredentialPlace {
  /** Relative to the home folder. */
  readonly path: string
  /** The page that documents the place. */
  readonly page: string
  /** Somebody has read there that the place is the program's. Default: the page is the program's, and nobody has looked. */
  readonly isConfirmed?: true
  /** Whether a file tool may read it after a question, or never. Default `ask`. */
  readonly read?: 'ask' | 'deny'
  /** Settings that most people have no login in: hidden when they begin like keys, see `holdsCredential`. */
  readonly when?: 'holds-keys'
  /** Names directly in the folder that hold no secret and are read without a question. */
  readonly plain?: RegExp
}

const place = (path: string, page: string, more: Omit<CredentialPlace, 'path' | 'page'> = {}): CredentialPlace => ({
  path,
  page,
  ...more,
})
const never = { read: 'deny' } as const
const confirmed = { isConfirmed: true } as const
const sometimes = { when: 'holds-keys' } as const

/** The places of credentials that are known by name. The longest path that fits counts. */
export const CREDENTIAL_PLACES: readonly CredentialPlace[] = Object.freeze([
  // Keys and logins of the shell
  place('.ssh', 'https://man.openbsd.org/ssh#FILES', {
    ...never,
    plain: /^(?:config|known_hosts(?:\.old)?|authorized_keys|[^/]*\.pub)$/,
  }),
  place('.gnupg', 'https://unix.com/man-page/debian/8/addgnupghome/', confirmed),
  place(
    '.gnupg/private-keys-v1.d',
    'https://www.gnupg.org/documentation/manuals/gnupg/Agent-Configuration.html',
    never,
  ),
  place('.gnupg/secring.gpg', 'https://gist.github.com/masak/dd94439a1865b2fa6c2a', { ...never, ...confirmed }),
  place('.netrc', 'https://everything.curl.dev/usingcurl/netrc', { ...never, ...confirmed }),
  place('.authinfo', 'https://www.gnu.org/software/emacs/manual/html_mono/auth.html'),
  place('.authinfo.gpg', 'https://www.gnu.org/software/emacs/manual/html_mono/auth.html'),
  place('.git-credentials', 'https://git-scm.com/docs/git-credential-store', { ...never, ...confirmed }),
  place('.config/git/credentials', 'https://git-scm.com/docs/git-credential-store', { ...never, ...confirmed }),
  place(
    '.git-credential-cache',
    'https://docs.oracle.com/cd/E88353_01/html/E37839/git-credential-cache-1.html',
    confirmed,
  ),
  place(
    '.cache/git/credential',
    'https://docs.oracle.com/cd/E88353_01/html/E37839/git-credential-cache-1.html',
    confirmed,
  ),
  place('.smbcredentials', 'https://wiki.archlinux.org/title/Samba'),
  place('.vnc', 'https://tigervnc.org/doc/vncpasswd.html'),
  // Code hosts
  place('.config/gh', 'https://cli.github.com/manual/gh_auth_login'),
  place('.config/gh/hosts.yml', 'https://cli.github.com/manual/gh_auth_login', never),
  place('.config/glab-cli', 'https://manpages.debian.org/testing/glab/glab-auth-login.1.en.html', confirmed),
  place('.config/hub', 'https://hub.github.com/hub.1.html'),
  place(
    '.config/tea',
    'https://github.com/1Password/shell-plugins/blob/main/plugins/gitea/personal_access_token.go',
    confirmed,
  ),
  // Clouds and clusters
  place('.aws', 'https://docs.aws.amazon.com/sdkref/latest/guide/file-location.html', {
    ...confirmed,
    plain: /^config$/,
  }),
  place('.aws/credentials', 'https://docs.aws.amazon.com/sdkref/latest/guide/file-location.html', {
    ...never,
    ...confirmed,
  }),
  place('.aws/sso', 'https://docs.rs/aws-config/0.52.0/aws_config/sso/index.html', { ...never, ...confirmed }),
  place('.aws/cli/cache', 'https://github.com/Aton-Kish/aws-credscache-go', { ...never, ...confirmed }),
  place('.azure', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/azure-cli.json', confirmed),
  place('.config/gcloud', 'https://github.com/Xuanwo/reqsign/issues/109', confirmed),
  place('.boto', 'https://cloud.google.com/storage/docs/boto-gsutil', confirmed),
  place('.kube', 'https://blog.csdn.net/m0_60105488/article/details/128308139', confirmed),
  place('.kube/config', 'https://blog.csdn.net/m0_60105488/article/details/128308139', { ...never, ...confirmed }),
  place('.config/doctl', 'https://pkg.go.dev/github.com/digitalocean/doctl', confirmed),
  place(
    '.config/hcloud',
    'https://github.com/1Password/shell-plugins/blob/main/plugins/hcloud/api_token.go',
    confirmed,
  ),
  place('.config/scw', 'https://www.scaleway.com/en/developers/cli/config', confirmed),
  place('.oci', 'https://docs.cloud.oracle.com/iaas/Content/API/Concepts/sdkconfig.htm', confirmed),
  place('.bluemix', 'https://cloud.ibm.com/docs/cli'),
  place('.config/heroku', 'https://devcenter.heroku.com/articles/authentication'),
  place('.fly', 'https://github.com/1Password/shell-plugins/blob/main/plugins/flyctl/access_token.go', confirmed),
  place('.config/netlify', 'https://pkg.go.dev/github.com/netlify/netlifyctl', confirmed),
  place('.netlify', 'https://unpkg.com/browse/netlify-cli@1.1.0/README.md', confirmed),
  place('.local/share/com.vercel.cli', 'https://vercel.com/docs/project-configuration/global-configuration', confirmed),
  place('.config/.wrangler', 'https://developers.cloudflare.com/workers/wrangler/commands/'),
  place(
    '.wrangler',
    'https://developers.cloudflare.com/workers/wrangler/migration/v1-to-v2/wrangler-legacy/authentication/',
  ),
  place(
    '.cloudflared',
    'https://developers.cloudflare.com/tunnel/advanced/local-management/local-tunnel-terms/index.md',
    confirmed,
  ),
  place('.railway', 'https://docs.railway.com/guides/cli'),
  place('.config/configstore', 'https://github.com/yeoman/configstore'),
  place('.s3cfg', 'https://github.com/dreadknot/aws/issues/2', confirmed),
  place('.mc', 'https://min.io/docs/minio/linux/reference/minio-mc.html'),
  place('.config/rclone', 'https://github.com/stefangweichinger/ansible-rclone/issues/138', confirmed),
  place('.terraform.d/credentials.tfrc.json', 'https://www.mintlify.com/hashicorp/terraform/cli/login', confirmed),
  place('.terraformrc', 'https://developer.hashicorp.com/terraform/cli/config/config-file', confirmed),
  place('.pulumi/credentials.json', 'https://github.com/pulumi/pulumi/issues/13919', confirmed),
  place('.vault-token', 'https://developer.hashicorp.com/vault/docs/commands/token-helper', confirmed),
  place('.chef', 'https://docs.chef.io/workstation/knife_setup/'),
  // Containers
  place(
    '.docker',
    'https://www.w3cschool.cn/doc_docker_1_11/docker_1_11-engine-reference-commandline-login-index.html',
    confirmed,
  ),
  place('.docker/config.json', 'https://man.archlinux.org/man/containers-auth.json.5', { ...never, ...confirmed }),
  place('.dockercfg', 'https://man.archlinux.org/man/containers-auth.json.5', confirmed),
  place('.config/containers/auth.json', 'https://man.archlinux.org/man/containers-auth.json.5', confirmed),
  place('.config/helm/registry', 'https://helm.sh/docs/topics/registries/'),
  // Package registries
  place('.npmrc', 'https://docs.npmjs.com/cli/v9/configuring-npm/npmrc/', confirmed),
  place('.yarnrc', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/yarn.json', {
    ...sometimes,
    ...confirmed,
  }),
  place('.yarnrc.yml', 'https://yarnpkg.com/configuration/yarnrc'),
  place('.pypirc', 'https://packaging.python.org/en/latest/specifications/pypirc/', { ...never, ...confirmed }),
  place('.config/pypoetry/auth.toml', 'https://python-poetry.org/docs/repositories/'),
  place(
    '.cargo/credentials',
    'https://docs.rs/crate/binstalk-manifests/0.19.2/source/src/cargo_credentials.rs',
    confirmed,
  ),
  place('.cargo/credentials.toml', 'https://doc.rust-lang.org/cargo/commands/cargo-login.html', confirmed),
  place('.gem/credentials', 'https://rubydoc.info/gems/rubygems-source-cli/file/README.md', confirmed),
  place('.local/share/gem/credentials', 'https://guides.rubygems.org/publishing/'),
  place('.bundle/config', 'https://bundler.io/man/bundle-config.1.html', sometimes),
  place('.composer/auth.json', 'https://getcomposer.org/doc/articles/authentication-for-private-packages.md'),
  place('.config/composer/auth.json', 'https://getcomposer.org/doc/articles/authentication-for-private-packages.md'),
  place('.m2/settings.xml', 'https://github.com/Kingong/maven-settings-decoder', confirmed),
  place('.m2/settings-security.xml', 'https://github.com/Kingong/maven-settings-decoder', confirmed),
  place('.gradle/gradle.properties', 'https://docs.gradle.org/current/userguide/build_environment.html', sometimes),
  place('.ivy2/.credentials', 'https://index.scala-lang.org/pnerg/sbt-publish-settings-plugin', confirmed),
  place('.sbt/.credentials', 'https://gist.github.com/is/7453145', confirmed),
  place('.nuget/NuGet/NuGet.Config', 'https://learn.microsoft.com/en-us/nuget/reference/nuget-config-file', sometimes),
  place('.config/NuGet/NuGet.Config', 'https://learn.microsoft.com/en-us/nuget/reference/nuget-config-file', sometimes),
  place('.hex', 'https://hex.pm/docs/tasks'),
  place('.pub-cache/credentials.json', 'https://dart.dev/tools/pub/cmd/pub-token'),
  place('.config/dart/pub-credentials.json', 'https://dart.dev/tools/pub/cmd/pub-token'),
  place('.config/dart/pub-tokens.json', 'https://dart.dev/tools/pub/cmd/pub-token'),
  place('.condarc', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/conda.json', {
    ...sometimes,
    ...confirmed,
  }),
  place('.config/pip/pip.conf', 'https://daobook.github.io/pip/topics/configuration.html', {
    ...sometimes,
    ...confirmed,
  }),
  place('.pip/pip.conf', 'https://daobook.github.io/pip/topics/configuration.html', { ...sometimes, ...confirmed }),
  place('.cargo/config.toml', 'https://doc.rust-lang.org/cargo/reference/config.html', sometimes),
  place('.config/uv/uv.toml', 'https://docs.astral.sh/uv/concepts/configuration-files/', sometimes),
  place('.gemrc', 'https://guides.rubygems.org/command-reference/', sometimes),
  place('.curlrc', 'https://curl.se/docs/manpage.html', sometimes),
  place('.wgetrc', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/wget.json', {
    ...sometimes,
    ...confirmed,
  }),
  place('.gitconfig', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/git.json', {
    ...sometimes,
    ...confirmed,
  }),
  place('.config/git/config', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/git.json', {
    ...sometimes,
    ...confirmed,
  }),
  // Data bases
  place('.pgpass', 'https://www.postgresql.org/docs/current/libpq-pgpass.html', { ...never, ...confirmed }),
  place('.pg_service.conf', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/postgresql.json', confirmed),
  place(
    '.my.cnf',
    'https://github.com/1Password/shell-plugins/blob/main/plugins/mysql/database_credentials.go',
    confirmed,
  ),
  place('.mylogin.cnf', 'https://dev.mysql.com/doc/refman/en/mysql-config-editor.html', confirmed),
  place('.mongorc.js', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/mongodb.json', confirmed),
  place('.mongodb', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/mongodb.json', confirmed),
  place('.snowflake', 'https://docs.snowflake.com/developer-guide/snowflake-cli/connecting/configure-cli', confirmed),
  place('.dbt/profiles.yml', 'https://docs.getdbt.com/docs/local/profiles.yml.md', confirmed),
  place('.databrickscfg', 'https://docs.databricks.com/dev-tools/auth/config-profiles.html', confirmed),
  // Models and agents
  place('.claude', 'https://pkg.go.dev/github.com/aoos/dejima/internal/agentcreds', confirmed),
  place('.claude.json', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/claude.json', confirmed),
  place('.codex', 'https://www.simplified.guide/codex/login-status-check', confirmed),
  place('.gemini', 'https://github.com/google-gemini/gemini-cli/blob/main/docs/get-started/authentication.md'),
  place('.config/github-copilot', 'https://docs.github.com/en/copilot/how-tos/configure-personal-settings'),
  place('.local/share/opencode/auth.json', 'https://github.com/anomalyco/opencode/issues/5238', confirmed),
  place('.aider.conf.yml', 'https://aider.chat/docs/config/aider_conf.html'),
  place(
    '.cache/huggingface/token',
    'https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables',
    confirmed,
  ),
  place(
    '.cache/huggingface/stored_tokens',
    'https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables',
  ),
  place(
    '.huggingface',
    'https://github.com/huggingface/huggingface_hub/blob/v0.11.0/src/huggingface_hub/utils/_hf_folder.py',
    confirmed,
  ),
  place('.kaggle', 'https://pypi.org/project/kagglehub', confirmed),
  place('.config/openai', 'https://platform.openai.com/docs/api-reference/authentication'),
  place('.config/io.datasette.llm/keys.json', 'https://llm.datasette.io/en/stable/setup.html'),
  // Password stores and key rings
  place('.password-store', 'https://git.zx2c4.com/password-store/about/?h=pager', confirmed),
  place('.config/op', 'https://developer.1password.com/docs/cli/config-directories/'),
  place('.1password', 'https://developer.1password.com/docs/ssh/get-started/'),
  place('.config/Bitwarden', 'https://bitwarden.com/help/data-storage/'),
  place(
    '.config/Bitwarden CLI',
    'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/bitwarden-cli.json',
    confirmed,
  ),
  place('.config/keepassxc', 'https://keepassxc.org/docs/KeePassXC_UserGuide'),
  place('.config/sops', 'https://getsops.io/docs/usage/identities/age/', confirmed),
  place('.config/age', 'https://github.com/FiloSottile/age'),
  place('.local/share/keyrings', 'https://wiki.gnome.org/Projects/GnomeKeyring'),
  place('.local/share/kwalletd', 'https://docs.kde.org/stable5/en/kwalletmanager/kwallet5/'),
  place('.local/share/python_keyring', 'https://pypi.org/project/keyrings.alt/'),
  place('.pki', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/nss.json', confirmed),
  place('.bitcoin', 'https://en.bitcoin.it/wiki/Data_directory'),
  place('.ethereum', 'https://geth.ethereum.org/docs/fundamentals/account-management'),
  place('.config/solana', 'https://solana.com/developers/cookbook/development/load-keypair-from-file', confirmed),
  // Browsers and mail
  place(
    '.config/google-chrome',
    'https://chromium.googlesource.com/chromium/src/+/47515abd6b3ae36b989683c5663df06d6bcb919b/chrome/common/chrome_paths_linux.cc',
    confirmed,
  ),
  place(
    '.config/chromium',
    'https://chromium.googlesource.com/chromium/src/+/47515abd6b3ae36b989683c5663df06d6bcb919b/chrome/common/chrome_paths_linux.cc',
    confirmed,
  ),
  place('.config/BraveSoftware', 'https://support.brave.com/hc/en-us/articles/360017888051'),
  place(
    '.config/microsoft-edge',
    'https://learn.microsoft.com/en-us/deployedge/edge-learnmore-create-user-directory-vars',
  ),
  place('.mozilla', 'https://www.rubydoc.info/gems/firefox-data/Firefox', confirmed),
  place(
    '.thunderbird',
    'https://github.com/ForensicArtifacts/artifacts/blob/main/artifacts/data/applications.yaml',
    confirmed,
  ),
  place('.msmtprc', 'https://marlam.de/msmtp/msmtprc.txt', confirmed),
  place('.muttrc', 'https://www.neomutt.org/guide/configuration'),
  place('.mbsyncrc', 'https://man.archlinux.org/man/mbsync.1.en', confirmed),
  place('.config/Slack', 'https://slack.com/help/articles/360035635174'),
  place('.config/discord', 'https://support.discord.com/hc/en-us'),
  place('.purple', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/pidgin.json', confirmed),
  // What was typed
  place('.bash_history', 'https://gnu.org/software/bash/manual/html_node/Bash-History-Facilities.html', confirmed),
  place('.zsh_history', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/zsh.json', confirmed),
  place('.histfile', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/zsh.json', confirmed),
  place('.local/share/fish/fish_history', 'https://github.com/jcsalterego/historian/issues/3', confirmed),
  place('.python_history', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/python.json', confirmed),
  place('.node_repl_history', 'https://nodejs.org/api/repl.html', confirmed),
  place('.irb_history', 'https://docs.ruby-lang.org/en/master/IRB.html'),
  place(
    '.psql_history',
    'https://github.com/postgrespro/postgres/commit/e4c76191a9f657e30c0a1e0a0d6e2a10ae6515d4',
    confirmed,
  ),
  place(
    '.mysql_history',
    'https://www.oreilly.com/library/view/mysql-reference-manual/0596002653/ch04s08.html',
    confirmed,
  ),
  place('.sqlite_history', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/sqlite.json', confirmed),
  place(
    '.rediscli_history',
    'https://raw.githubusercontent.com/CVEProject/cvelistV5/main/cves/2013/7xxx/CVE-2013-7458.json',
    confirmed,
  ),
  place('.rediscli_auth', 'https://redis.io/docs/latest/develop/tools/cli/'),
  place('.lesshst', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/less.json', confirmed),
  place('.viminfo', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/vim.json', confirmed),
  place('.local/state/nvim/shada', 'https://neovim.io/doc/user/starting.html#shada-file'),
  place('.local/share/nvim/shada', 'https://neovim.io/doc/user/starting.html#shada-file'),
  // macOS
  place('Library/Keychains', 'https://support.apple.com/guide/keychain-access/welcome/mac'),
  place(
    'Library/Application Support/Google/Chrome',
    'https://chromium.googlesource.com/chromium/src.git/+/lkgr/docs/user_data_dir.md',
    confirmed,
  ),
  place(
    'Library/Application Support/Firefox',
    'https://support.mozilla.org/en-US/kb/profiles-where-firefox-stores-user-data',
  ),
  place(
    'Library/Application Support/com.vercel.cli',
    'https://vercel.com/docs/project-configuration/global-configuration',
    confirmed,
  ),
  place(
    'Library/Application Support/dart/pub-tokens.json',
    'https://pub.dev/documentation/unpub_auth/latest/',
    confirmed,
  ),
  place('Library/Application Support/sops', 'https://getsops.io/docs/usage/identities/age/', confirmed),
  place('Library/Cookies', 'https://developer.apple.com/documentation/foundation/httpcookiestorage'),
])
