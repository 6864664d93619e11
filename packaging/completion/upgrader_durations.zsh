#autoload
# Completes durations in zsh, for these programs: offers units after a number, otherwise a few
# durations.

local number=${PREFIX%%[^0-9]*} expl
if [[ -n $number ]]; then
  _wanted durations expl duration compadd -- ${number}{ms,s,m,h}
else
  _wanted durations expl duration compadd -- 500ms 10s 30s 90s 5m 1h
fi
