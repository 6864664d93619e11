#autoload
# Completes durations in zsh, for the programs of this project. After a number, offers units;
# otherwise offers a few durations.

local number=${PREFIX%%[^0-9]*} expl
if [[ -n $number ]]; then
  _wanted durations expl duration compadd -- ${number}{ms,s,m,h}
else
  _wanted durations expl duration compadd -- 500ms 10s 30s 90s 5m 1h
fi
