/** A file or folder below the home folder where a program keeps keys, tokens, or what was typed. */
export interface CredentialPlace {
  /** Relative to the home folder. */
  readonly path: string
  /** Where it was read that the place is the program's: documentation, source, or a thread of people who use it. */
  readonly page: string
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
const sometimes = { when: 'holds-keys' } as const

/** The places of credentials that are known by name. The longest path that fits counts. */
export const CREDENTIAL_PLACES: readonly CredentialPlace[] = Object.freeze([
  // Keys and logins of the shell
  place('.ssh', 'https://docs.oracle.com/cd/E37670_01/E41138/html/ch25s05s03.html', {
    ...never,
    plain: /^(?:config|known_hosts(?:\.old)?|authorized_keys|[^/]*\.pub)$/,
  }),
  place('.gnupg', 'https://unix.com/man-page/debian/8/addgnupghome/'),
  place('.gnupg/private-keys-v1.d', 'https://github.com/bcgit/bc-java/issues/1320', never),
  place('.gnupg/secring.gpg', 'https://gist.github.com/masak/dd94439a1865b2fa6c2a', never),
  place('.netrc', 'https://everything.curl.dev/usingcurl/netrc', never),
  place('.authinfo', 'https://www.emacsdocs.org/docs/emacs/Authentication'),
  place('.authinfo.gpg', 'https://www.emacsdocs.org/docs/emacs/Authentication'),
  place('.git-credentials', 'https://git-scm.com/docs/git-credential-store', never),
  place('.config/git/credentials', 'https://git-scm.com/docs/git-credential-store', never),
  place('.git-credential-cache', 'https://docs.oracle.com/cd/E88353_01/html/E37839/git-credential-cache-1.html'),
  place('.cache/git/credential', 'https://docs.oracle.com/cd/E88353_01/html/E37839/git-credential-cache-1.html'),
  place('.smbcredentials', 'https://github.com/simatec/ioBroker.backitup/issues/1003'),
  place('.vnc', 'https://linux.die.net/man/1/vncpasswd'),
  // Code hosts
  place(
    '.config/gh',
    'https://github.com/1Password/shell-plugins/blob/6036ccd8371ae3d237a6b1177554f3648ca997b1/plugins/github/personal_access_token.go',
  ),
  place(
    '.config/gh/hosts.yml',
    'https://github.com/1Password/shell-plugins/blob/6036ccd8371ae3d237a6b1177554f3648ca997b1/plugins/github/personal_access_token.go',
    never,
  ),
  place('.config/glab-cli', 'https://manpages.debian.org/testing/glab/glab-auth-login.1.en.html'),
  place('.config/hub', 'https://github.com/kelseyhightower/hub-credential-helper'),
  place('.config/tea', 'https://github.com/1Password/shell-plugins/blob/main/plugins/gitea/personal_access_token.go'),
  // Clouds and clusters
  place('.aws', 'https://docs.aws.amazon.com/sdkref/latest/guide/file-location.html', {
    plain: /^config$/,
  }),
  place('.aws/credentials', 'https://docs.aws.amazon.com/sdkref/latest/guide/file-location.html', never),
  place('.aws/sso', 'https://docs.rs/aws-config/0.52.0/aws_config/sso/index.html', never),
  place('.aws/cli/cache', 'https://github.com/Aton-Kish/aws-credscache-go', never),
  place('.azure', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/azure-cli.json'),
  place('.config/gcloud', 'https://github.com/Xuanwo/reqsign/issues/109'),
  place('.boto', 'https://cloud.google.com/storage/docs/boto-gsutil'),
  place('.kube', 'https://blog.csdn.net/m0_60105488/article/details/128308139'),
  place('.kube/config', 'https://blog.csdn.net/m0_60105488/article/details/128308139', never),
  place('.config/doctl', 'https://pkg.go.dev/github.com/digitalocean/doctl'),
  place('.config/hcloud', 'https://github.com/1Password/shell-plugins/blob/main/plugins/hcloud/api_token.go'),
  place('.config/scw', 'https://www.scaleway.com/en/developers/cli/config'),
  place('.oci', 'https://docs.cloud.oracle.com/iaas/Content/API/Concepts/sdkconfig.htm'),
  place(
    '.bluemix',
    'https://github.com/IBM-Cloud/ibm-cloud-cli-sdk/blob/08028a428175142a27d406b2acca0e9ddafc1285/bluemix/configuration/config_helpers/helpers.go',
  ),
  place(
    '.config/heroku',
    'https://github.com/heroku/cli/blob/199da649c545858f4c02083a232986e1cac00217/packages/cli/src/lib/accounts/accounts.ts',
  ),
  place('.fly', 'https://github.com/1Password/shell-plugins/blob/main/plugins/flyctl/access_token.go'),
  place('.config/netlify', 'https://pkg.go.dev/github.com/netlify/netlifyctl'),
  place('.netlify', 'https://unpkg.com/browse/netlify-cli@1.1.0/README.md'),
  place('.local/share/com.vercel.cli', 'https://vercel.com/docs/project-configuration/global-configuration'),
  place(
    '.config/.wrangler',
    'https://github.com/cloudflare/workers-sdk/blob/301ef065c90bc99cdaec1423343434541411d3c6/packages/workers-utils/src/global-wrangler-config-path.ts',
  ),
  place(
    '.wrangler',
    'https://github.com/cloudflare/workers-sdk/blob/301ef065c90bc99cdaec1423343434541411d3c6/packages/workers-utils/src/global-wrangler-config-path.ts',
  ),
  place(
    '.cloudflared',
    'https://developers.cloudflare.com/tunnel/advanced/local-management/local-tunnel-terms/index.md',
  ),
  place('.railway', 'https://github.com/railwayapp/cli/blob/00c947452409b13a4489cd2142c9c8266fcb814c/src/config.rs'),
  place(
    '.config/configstore',
    'https://github.com/yeoman/configstore/blob/04daf35d60b3983096b3c778484e2c6c0fd00ef5/readme.md',
  ),
  place('.s3cfg', 'https://github.com/dreadknot/aws/issues/2'),
  place('.mc', 'https://github.com/minio/mc/blob/00970e1d90d04200ced2cef3c0ef03c22e3beb3b/README.md'),
  place('.config/rclone', 'https://github.com/stefangweichinger/ansible-rclone/issues/138'),
  place('.terraform.d/credentials.tfrc.json', 'https://www.mintlify.com/hashicorp/terraform/cli/login'),
  place('.terraformrc', 'https://developer.hashicorp.com/terraform/cli/config/config-file'),
  place('.pulumi/credentials.json', 'https://github.com/pulumi/pulumi/issues/13919'),
  place('.vault-token', 'https://developer.hashicorp.com/vault/docs/commands/token-helper'),
  place(
    '.chef',
    'https://github.com/chef/chef/blob/00a2baf69a299b5112c40dc069cbcea08ba57146/chef-config/lib/chef-config/mixin/credentials.rb',
  ),
  // Containers
  place(
    '.docker',
    'https://www.w3cschool.cn/doc_docker_1_11/docker_1_11-engine-reference-commandline-login-index.html',
  ),
  place('.docker/config.json', 'https://man.archlinux.org/man/containers-auth.json.5', never),
  place('.dockercfg', 'https://man.archlinux.org/man/containers-auth.json.5'),
  place('.config/containers/auth.json', 'https://man.archlinux.org/man/containers-auth.json.5'),
  place(
    '.config/helm/registry',
    'https://github.com/helm/helm-www/blob/15491c2f5adf9ef071055d12f5c64672bc1a36c6/docs/helm/helm_registry_login.md',
  ),
  // Package registries
  place('.npmrc', 'https://docs.npmjs.com/cli/v9/configuring-npm/npmrc/'),
  place('.yarnrc', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/yarn.json', sometimes),
  place('.yarnrc.yml', 'https://github.com/yarnpkg/berry/issues/4341'),
  place('.pypirc', 'https://packaging.python.org/en/latest/specifications/pypirc/', never),
  place('.config/pypoetry/auth.toml', 'https://github.com/python-poetry/poetry/issues/478'),
  place('.cargo/credentials', 'https://docs.rs/crate/binstalk-manifests/0.19.2/source/src/cargo_credentials.rs'),
  place('.cargo/credentials.toml', 'https://doc.rust-lang.org/cargo/commands/cargo-login.html'),
  place('.gem/credentials', 'https://rubydoc.info/gems/rubygems-source-cli/file/README.md'),
  place('.local/share/gem/credentials', 'https://github.com/ruby/rubygems/pull/8375'),
  place('.bundle/config', 'https://github.com/bundler/bundler/blob/spec-for-3896/man/bundle-config.ronn', sometimes),
  place('.composer/auth.json', 'https://github.com/composer/composer/issues/5434'),
  place('.config/composer/auth.json', 'https://github.com/composer/composer/issues/9731'),
  place('.m2/settings.xml', 'https://github.com/Kingong/maven-settings-decoder'),
  place('.m2/settings-security.xml', 'https://github.com/Kingong/maven-settings-decoder'),
  place('.gradle/gradle.properties', 'https://github.com/gradle/gradle-profiler/issues/104', sometimes),
  place('.ivy2/.credentials', 'https://index.scala-lang.org/pnerg/sbt-publish-settings-plugin'),
  place('.sbt/.credentials', 'https://gist.github.com/is/7453145'),
  place(
    '.nuget/NuGet/NuGet.Config',
    'https://learn.microsoft.com/nuget/consume-packages/configuring-nuget-behavior',
    sometimes,
  ),
  place(
    '.config/NuGet/NuGet.Config',
    'https://learn.microsoft.com/nuget/consume-packages/configuring-nuget-behavior',
    sometimes,
  ),
  place('.hex', 'https://hexdocs.pm/hex/0.17.6/Mix.Tasks.Hex.Config.html'),
  place('.pub-cache/credentials.json', 'https://github.com/dart-lang/pub-dev/issues/4701'),
  place('.config/dart/pub-credentials.json', 'https://github.com/dart-lang/site-www/issues/4281'),
  place(
    '.config/dart/pub-tokens.json',
    'https://github.com/dart-lang/pub/blob/15256c7efabf6d107c8e9019ea2caa448d859758/lib/src/authentication/token_store.dart',
  ),
  place('.condarc', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/conda.json', sometimes),
  place('.config/pip/pip.conf', 'https://daobook.github.io/pip/topics/configuration.html', sometimes),
  place('.pip/pip.conf', 'https://daobook.github.io/pip/topics/configuration.html', sometimes),
  place('.cargo/config.toml', 'https://doc.rust-lang.org/cargo/reference/config.html', sometimes),
  place(
    '.config/uv/uv.toml',
    'https://github.com/astral-sh/uv/blob/060a97a847f760c7dd1e3175782323c4ee7c4857/docs/concepts/configuration-files.md',
    sometimes,
  ),
  place(
    '.gemrc',
    'https://github.com/rubygems/rubygems/blob/00a80278277bafe6a4b81c3f6a822ed95997c9db/lib/rubygems/config_file.rb',
    sometimes,
  ),
  place('.curlrc', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/curl.json', sometimes),
  place('.wgetrc', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/wget.json', sometimes),
  place('.gitconfig', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/git.json', sometimes),
  place('.config/git/config', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/git.json', sometimes),
  // Data bases
  place('.pgpass', 'https://www.postgresql.org/docs/current/libpq-pgpass.html', never),
  place('.pg_service.conf', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/postgresql.json'),
  place('.my.cnf', 'https://github.com/1Password/shell-plugins/blob/main/plugins/mysql/database_credentials.go'),
  place('.mylogin.cnf', 'https://dev.mysql.com/doc/refman/en/mysql-config-editor.html'),
  place('.mongorc.js', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/mongodb.json'),
  place('.mongodb', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/mongodb.json'),
  place('.snowflake', 'https://docs.snowflake.com/developer-guide/snowflake-cli/connecting/configure-cli'),
  place('.dbt/profiles.yml', 'https://docs.getdbt.com/docs/local/profiles.yml.md'),
  place('.databrickscfg', 'https://docs.databricks.com/dev-tools/auth/config-profiles.html'),
  // Models and agents
  place('.claude', 'https://pkg.go.dev/github.com/aoos/dejima/internal/agentcreds'),
  place('.claude.json', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/claude.json'),
  place('.codex', 'https://www.simplified.guide/codex/login-status-check'),
  place(
    '.gemini',
    'https://github.com/google-gemini/gemini-cli/blob/06c8d3a61dd14614e673d400d7858072b910c4bd/docs/get-started/authentication.md',
  ),
  place('.config/github-copilot', 'https://github.com/github/copilot.vim/pull/15'),
  place('.local/share/opencode/auth.json', 'https://github.com/anomalyco/opencode/issues/5238'),
  place('.aider.conf.yml', 'https://aider.chat/docs/config/aider_conf.html'),
  place(
    '.cache/huggingface/token',
    'https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables',
  ),
  place('.cache/huggingface/stored_tokens', 'https://github.com/huggingface/huggingface_hub/issues/4144'),
  place(
    '.huggingface',
    'https://github.com/huggingface/huggingface_hub/blob/v0.11.0/src/huggingface_hub/utils/_hf_folder.py',
  ),
  place('.kaggle', 'https://pypi.org/project/kagglehub'),
  place(
    '.config/io.datasette.llm/keys.json',
    'https://github.com/simonw/llm/blob/05b4bcf57c36cfc6a71be715f5160086908e5ae7/docs/setup.md',
  ),
  // Password stores and key rings
  place('.password-store', 'https://git.zx2c4.com/password-store/about/?h=pager'),
  place('.config/op', 'https://github.com/zcutlip/pyonepassword/issues/222'),
  place('.1password', 'https://github.com/mmercurio/dotfiles/blob/main/home/private_dot_ssh/private_env_1password'),
  place('.config/Bitwarden', 'https://github.com/bitwarden/clients/issues/8955'),
  place('.config/Bitwarden CLI', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/bitwarden-cli.json'),
  place('.config/keepassxc', 'https://github.com/jwillikers/keepassxc-settings'),
  place('.config/sops', 'https://getsops.io/docs/usage/identities/age/'),
  place('.config/age', 'https://github.com/str4d/rage/issues/39'),
  place(
    '.local/share/keyrings',
    'https://github.com/netblue30/firejail/blob/03eb7690d15fe5e3de70e87d0e53da9d07b5764d/etc/inc/disable-common.inc',
  ),
  place('.local/share/kwalletd', 'https://github.com/netblue30/firejail/pull/251'),
  place('.local/share/python_keyring', 'https://github.com/jaraco/keyring/issues/225'),
  place('.pki', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/nss.json'),
  place('.bitcoin', 'https://github.com/bitcoin/bitcoin/issues/27024'),
  place('.ethereum', 'https://github.com/ethereum/go-ethereum/issues/3261'),
  place('.config/solana', 'https://solana.com/developers/cookbook/development/load-keypair-from-file'),
  // Browsers and mail
  place(
    '.config/google-chrome',
    'https://chromium.googlesource.com/chromium/src/+/47515abd6b3ae36b989683c5663df06d6bcb919b/chrome/common/chrome_paths_linux.cc',
  ),
  place(
    '.config/chromium',
    'https://chromium.googlesource.com/chromium/src/+/47515abd6b3ae36b989683c5663df06d6bcb919b/chrome/common/chrome_paths_linux.cc',
  ),
  place('.config/BraveSoftware', 'https://github.com/brave/brave-browser/issues/3829'),
  place(
    '.config/microsoft-edge',
    'https://github.com/fox-it/dissect.target/blob/069325ed869d12241cde94bfb6bb7f5376420827/dissect/target/plugins/apps/browser/edge.py',
  ),
  place('.mozilla', 'https://www.rubydoc.info/gems/firefox-data/Firefox'),
  place('.thunderbird', 'https://github.com/ForensicArtifacts/artifacts/blob/main/artifacts/data/applications.yaml'),
  place('.msmtprc', 'https://marlam.de/msmtp/msmtprc.txt'),
  place(
    '.muttrc',
    'https://github.com/netblue30/firejail/blob/03eb7690d15fe5e3de70e87d0e53da9d07b5764d/etc/inc/disable-common.inc',
  ),
  place('.mbsyncrc', 'https://man.archlinux.org/man/mbsync.1.en'),
  place('.config/Slack', 'https://github.com/rneatherway/gh-slack/issues/15'),
  place('.config/discord', 'https://github.com/NixOS/nixpkgs/issues/211197'),
  place('.purple', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/pidgin.json'),
  // What was typed
  place('.bash_history', 'https://gnu.org/software/bash/manual/html_node/Bash-History-Facilities.html'),
  place('.zsh_history', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/zsh.json'),
  place('.histfile', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/zsh.json'),
  place('.local/share/fish/fish_history', 'https://github.com/jcsalterego/historian/issues/3'),
  place('.python_history', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/python.json'),
  place('.node_repl_history', 'https://nodejs.org/api/repl.html'),
  place('.irb_history', 'https://github.com/ruby/irb/pull/842'),
  place('.psql_history', 'https://github.com/postgrespro/postgres/commit/e4c76191a9f657e30c0a1e0a0d6e2a10ae6515d4'),
  place('.mysql_history', 'https://www.oreilly.com/library/view/mysql-reference-manual/0596002653/ch04s08.html'),
  place('.sqlite_history', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/sqlite.json'),
  place(
    '.rediscli_history',
    'https://raw.githubusercontent.com/CVEProject/cvelistV5/main/cves/2013/7xxx/CVE-2013-7458.json',
  ),
  place('.lesshst', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/less.json'),
  place('.viminfo', 'https://github.com/b3nj5m1n/xdg-ninja/blob/main/programs/vim.json'),
  place('.local/state/nvim/shada', 'https://github.com/neovim/neovim/issues/23345'),
  place('.local/share/nvim/shada', 'https://github.com/neovim/neovim/issues/6875'),
  // macOS
  place('Library/Keychains', 'https://github.com/fox-it/dissect.target/issues/1829'),
  place(
    'Library/Application Support/Google/Chrome',
    'https://chromium.googlesource.com/chromium/src.git/+/lkgr/docs/user_data_dir.md',
  ),
  place('Library/Application Support/Firefox', 'https://github.com/fox-it/dissect.target/pull/250'),
  place(
    'Library/Application Support/com.vercel.cli',
    'https://vercel.com/docs/project-configuration/global-configuration',
  ),
  place('Library/Application Support/dart/pub-tokens.json', 'https://pub.dev/documentation/unpub_auth/latest/'),
  place('Library/Application Support/sops', 'https://getsops.io/docs/usage/identities/age/'),
  place('Library/Cookies', 'https://github.com/ForensicArtifacts/artifacts/pull/566'),
])
