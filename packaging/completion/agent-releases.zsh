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
    'list:all releases, with what is known of each'
    'show:one of them'
    'verify:hash again what is on disk'
    'desire:what is to run from now on'
    'adopt:make a release of an installed file'
    'forget:let one that has failed be tried again'
    'try:what should replace the version that runs, recorded as tried'
    'fail:record how an upgrade failed'
    'remove:unless somebody needs it'
    'prune:all but the newest'
    'pack:make what a publisher puts on a server'
    'key:make a key to sign with'
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
  '--dir=[the directory of releases]:directory:_files -/'
  '--keys=[public keys that are trusted]:directory:_files -/'
  '--name=[whose releases these are]:name:'
  '*--control=[control directory of an upgrader]:directory:_files -/'
  '--json[facts as JSON]'
  '(- *)'{-h,--help}'[print the options and exit]'
  '(- *)--version[print the version and exit]'
)
case ${words[(r)(add|verify|desire|adopt|try|fail|prune|pack|key)]} in
  add)
    options+=(
      '--sha256=[what the bytes of a release must be]:hash:'
      '--cacert=[whose certificates https has to show]:file:_files'
      '--unsigned[take whatever the manifest says]'
      '--older[a version that is older than the current one, too]'
    )
    ;;
  verify) options+=('--all[every release]') ;;
  desire) options+=('--newest[the newest that is no pre-release]') ;;
  adopt) options+=('--as=[the version of what is adopted]:version:') ;;
  try) options+=('--running=[the version that runs]:version:_agent_releases_versions') ;;
  fail)
    local stages='request spawn start confirm cancel stop trial commit shutdown boot'
    options+=(
      "--stage=[where it failed]:stage:($stages)"
      '--reason=[why it failed]:reason:'
      '--errno=[the error of the system]:error:(ENOENT ENOEXEC)'
    )
    ;;
  prune)
    options+=(
      '--keep=[how many stay]:number:(1 2 3 5 10)'
      '--older=[what was added as long ago]:age:(12h 7d 30d 90d)'
    )
    ;;
  pack)
    local processors='x86_64 i386 aarch64 armhf armel mips mipsel riscv64 ppc64le s390x any'
    options=(${options:#*--version*}
      '--version=[the version of the release]:version:'
      "--arch=[the processor that it is for]:processor:($processors)"
      '--entry=[the program of a directory]:program:_files'
      '--min-protocol=[the least version of the protocol]:number:(1)'
      '--expires=[refused after this time]:time:'
      '--no-undo[no rollout of it can be undone]'
      '--out=[where it is put]:directory:_files -/'
      '--sign=[the secret key]:key:_files'
      '--npm[a project of Node.js]'
      '--wheels[a project of Python]'
      '--scripts[packages may run programs when they are installed]'
      '--check=[what of these files would be refused]:directory:_files -/'
    )
    ;;
  key)
    options+=(
      '--public=[where the public key is put]:file:_files'
      '--no-password[the secret key is not encrypted]'
    )
    ;;
esac
_arguments -S $options '1:command:_agent_releases_commands' '2:argument:_agent_releases_argument' \
  '*:file:_files'
