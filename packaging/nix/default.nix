# Builds the upgrader and the programs beside it from this source tree: nix-build packaging/nix.
{ pkgs ? import <nixpkgs> { } }:
pkgs.stdenv.mkDerivation {
  pname = "upgrader";
  version = builtins.head (builtins.match ".*upgrader_version\\[] = \"([^\"]*)\".*"
    (builtins.readFile ../../base/version.h));
  src = pkgs.lib.cleanSource ../..;
  nativeBuildInputs = [ pkgs.pkg-config ];
  buildInputs = with pkgs; [ cereal cli11 curl libarchive libsodium libuv ];
  buildPhase = ''
    make -j$NIX_BUILD_CORES build/upgrader build/upgraderctl build/agentify build/agent-releases
  '';
  installPhase = ''
    install -D -t $out/bin build/upgrader build/upgraderctl build/agentify build/agent-releases
    install -D -m 644 -t $out/share/man/man8 man/upgrader.8
    install -D -m 644 -t $out/share/man/man7 man/agent-protocol.7
    install -D -m 644 -t $out/share/man/man1 man/upgraderctl.1 man/agentify.1 man/agent-releases.1
  '';
  meta = {
    description = "Replaces a running agent by its next version, and falls back by itself";
    license = pkgs.lib.licenses.mit;
    platforms = pkgs.lib.platforms.linux;
  };
}
