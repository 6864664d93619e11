// Names the members of the records and texts by which machines join: see record_members.h.
#pragma once

#include <cereal/cereal.hpp>

#include "fleet/model/join_records.h"

namespace fleet {

template <class Archive>
void serialize(Archive& archive, Token& token) {
  using cereal::make_nvp;
  archive(make_nvp("hash", token.hash), make_nvp("nodes", token.nodes),
          make_nvp("labels", token.labels), make_nvp("uses", token.uses),
          make_nvp("used", token.used), make_nvp("expires", token.expires),
          make_nvp("created", token.created), make_nvp("who", token.who),
          make_nvp("revoked", token.revoked), make_nvp("release_keys", token.release_keys));
}

template <class Archive>
void serialize(Archive& archive, JoinRequest& join_request) {
  using cereal::make_nvp;
  archive(make_nvp("node", join_request.node), make_nvp("pem", join_request.pem),
          make_nvp("token", join_request.token), make_nvp("asked", join_request.asked),
          make_nvp("waits", join_request.waits), make_nvp("refused", join_request.refused),
          make_nvp("certificate", join_request.certificate));
}

template <class Archive>
void serialize(Archive& archive, Approval& approval) {
  using cereal::make_nvp;
  archive(make_nvp("node", approval.node), make_nvp("who", approval.who),
          make_nvp("time", approval.time));
}

template <class Archive>
void serialize(Archive& archive, SignerAtWork& signer) {
  using cereal::make_nvp;
  archive(
      make_nvp("version", signer.version), make_nvp("since", signer.since),
      make_nvp("takes_snapshots", signer.takes_snapshots), make_nvp("snapshot", signer.snapshot),
      make_nvp("certificate_ends", signer.certificate_ends), make_nvp("trouble", signer.trouble));
}

template <class Archive>
void serialize(Archive& archive, ControllerAtWork& controller) {
  using cereal::make_nvp;
  archive(make_nvp("version", controller.version), make_nvp("since", controller.since));
}

template <class Archive>
void serialize(Archive& archive, TokenText& token) {
  using cereal::make_nvp;
  archive(make_nvp("controllers", token.controllers), make_nvp("store", token.store),
          make_nvp("authority", token.authority), make_nvp("release_keys", token.release_keys),
          make_nvp("secret", token.secret));
}

template <class Archive>
void serialize(Archive& archive, JoinQuestion& question) {
  using cereal::make_nvp;
  archive(make_nvp("node", question.node), make_nvp("secret", question.secret),
          make_nvp("request", question.request));
}

template <class Archive>
void serialize(Archive& archive, JoinAnswer& answer) {
  using cereal::make_nvp;
  archive(make_nvp("state", answer.state), make_nvp("words", answer.words),
          make_nvp("certificate", answer.certificate),
          make_nvp("release_keys", answer.release_keys));
}

}  // namespace fleet
