#compdef agent-releases
# Completes the command line of agent-releases in zsh: options, commands, and the versions in the
# directory.

_agent_releases_versions() {
  local directory=${opt_args[--dir]:-.} expl
  _wanted versions expl version compadd -- ${(f)"$(agent-releases --dir=$directory --json list \
    2>/dev/null | grep -o '"version":"[^"]*"' | cut -d '"' -f 4)"}
}

_agent_releases_commands() {
  local commands=(
    'add:fetch and verify a release'
    'list:list all releases, with sizes, links and results of upgrades'
    'show:show one release, as list does'
    'verify:hash the files of a release again, and compare the hashes'
    'desire:set the version that should run from now on'
    'adopt:turn an installed file into a release'
    'forget:allow a failed release to be tried again'
    'try:choose the release that should replace the running version'
    'fail:record that an upgrade has failed'
    'remove:remove a release, unless it is needed'
    'prune:remove all releases except the newest and the needed ones'
    'pack:make the files of a release that a publisher puts on a server'
    'key:make a key to sign with, or print a public key'
  )
  _describe command commands
}

_agent_releases_argument() {
  case ${words[(r)(add|list|show|verify|desire|adopt|forget|try|fail|remove|prune|pack|key)]} in
    add | adopt | pack) _files ;;
    key) compadd make public ;;
    show | verify | desire | forget | remove) _agent_releases_versions ;;
  esac
}

local -a options=(
  '--dir=[directory of releases]:directory:_files -/'
  '--keys=[directory of trusted public keys]:directory:_files -/'
  '--name=[name of the program]:name:'
  '*--control=[control directory of an upgrader]:directory:_files -/'
  '--json[print facts as JSON]'
  '(- *)'{-h,--help}'[print the help and exit]'
  '(- *)--version[print the version and exit]'
)
case ${words[(r)(add|verify|desire|adopt|try|fail|prune|pack|key)]} in
  add)
    options+=(
      '--sha256=[SHA-256 hash that the file of the release must have]:hash:'
      '--cacert=[PEM file of the certificates that https trusts]:file:_files'
      '--unsigned[accept the manifest without a signature]'
      '--older[also accept a version that is older than the current version]'
    )
    ;;
  verify) options+=('--all[verify every release]') ;;
  desire) options+=('--newest[set the newest version except pre-releases]') ;;
  adopt) options+=('--as=[version of the installed file]:version:') ;;
  try) options+=('--running=[version of the running agent]:version:_agent_releases_versions') ;;
  fail)
    local stages='request spawn start confirm cancel stop trial commit shutdown boot'
    options+=(
      "--stage=[stage at which the upgrade failed]:stage:($stages)"
      '--reason=[reason why the upgrade failed]:reason:'
      '--errno=[system error that made the upgrade fail]:error:(ENOENT ENOEXEC)'
    )
    ;;
  prune)
    options+=(
      '--keep=[number of newest releases to keep]:number:(1 2 3 5 10)'
      '--older=[least age of a release that is removed]:age:(12h 7d 30d 90d)'
    )
    ;;
  pack)
    local processors='x86_64 i386 aarch64 armhf armel mips mipsel riscv64 ppc64le s390x any'
    options=(${options:#*--version*}
      '--version=[version of the release]:version:'
      "--arch=[processor on which the release runs]:processor:($processors)"
      '--entry=[path within the directory of the program that is executed]:program:_files'
      '--min-protocol=[least version of the agent protocol that the release needs]:number:(1)'
      '--expires=[time after which add refuses the release]:time:'
      '--no-undo[declare that no rollout of the release can be undone]'
      '--out=[directory that gets the files]:directory:_files -/'
      '--sign=[file of the secret key that signs the manifest]:key:_files'
      '--npm[pack a Node.js project, with its packages]'
      '--wheels[pack a Python project, with its packages]'
      '--scripts[let the packages run programs when they are installed]'
      '--check=[print which files in a directory add would refuse]:directory:_files -/'
    )
    ;;
  key)
    options+=(
      '--public=[file that gets the public key]:file:_files'
      '--no-password[do not encrypt the secret key]'
    )
    ;;
esac
_arguments -S $options '1:command:_agent_releases_commands' '2:argument:_agent_releases_argument' \
  '*:file:_files'
