/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
/* Prints the tag of the empty message under the zero key and the zero IV: test case 1 of the GCM specification. */
#include <stdio.h>
#include <stitchgcm.h>

int main(void) {
  stitchgcm_key key;
  const uint8_t bytes[16] = {0};
  const uint8_t iv[12] = {0};
  uint8_t tag[16];
  stitchgcm_message message = {.iv = iv, .iv_bytes = 12, .tag = tag, .tag_bytes = 16};
  stitchgcm_status status = stitchgcm_key_init(&key, bytes, sizeof bytes);
  if (status == STITCHGCM_OK) status = stitchgcm_seal(&key, &message);
  stitchgcm_key_clear(&key);
  if (status != STITCHGCM_OK) {
    fprintf(stderr, "embedding: %s\n", stitchgcm_status_text(status));
    return 1;
  }
  for (size_t i = 0; i < sizeof tag; i++) printf("%02x", tag[i]);
  putchar('\n');
  return 0;
}
