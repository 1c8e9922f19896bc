# frozen_string_literal: true

require 'openssl'

# Verifies `v1a`, the signature for receivers that know public keys and no secret. Ruby 3.1 or later (its `openssl` is 3.0) with
# OpenSSL 1.1.1 or later, nothing else.
#
#     problem = WaybillV1a.problem(KEYS, headers_of(request), request.raw_post)
#     return render(plain: problem, status: :unauthorized) if problem
#
#     def headers_of(request)
#       %w[Webhook-Id Webhook-Timestamp Webhook-Signature X-Service-Delivery].to_h { |name| [name, request.headers[name].to_s] }
#     end
#
# It covers X-Service-Delivery, the time and the body, of POST alone. The event type, the webhook, the sequence and the test mark it
# does not cover: where these need protection from more than TLS protects them from, verify `v3` too (waybill.rb).
module WaybillV1a
  TOLERANCE = 300
  # "whpk_" and the base64 of 32 bytes, which are not all zero: anybody can sign for such a key.
  PUBLIC_KEY = %r{\Awhpk_(?!A+=)[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=\z}.freeze
  # What stands before the 32 bytes in a SubjectPublicKeyInfo (RFC 8410).
  SPKI = ['302a300506032b6570032100'].pack('H*').freeze

  # A mistake in your own setup, not in the request: answer 500, never 401.
  class BadKey < ArgumentError; end

  # Raises BadKey unless it is an Array of one or more whole public keys. Call it at the start, too.
  def self.check_public_keys(keys)
    raise BadKey, 'the public keys are not a list: write [key]' unless keys.is_a?(Array) && !keys.empty?

    whole = keys.all? { |key| key.is_a?(String) && key.b.match?(PUBLIC_KEY) }
    raise BadKey, 'a public key is not set, cut off, or not the "publicKey" of GET /eshop/signing-keys' unless whole
  end

  # Why the request is not a delivery; nil when the signature is good and not too old.
  #
  # keys:    each "publicKey" of GET /eshop/signing-keys ("whpk_..."): one, or two while one is being replaced
  # headers: a Hash, names in any case
  # body:    exactly as received
  # now:     Unix seconds
  #
  # Raises BadKey as check_public_keys does.
  def self.problem(keys, headers, body, now = Time.now.to_i)
    check_public_keys(keys)
    headers = headers.to_h { |name, value| [name.downcase, value] }
    id, t = headers.values_at('webhook-id', 'webhook-timestamp').map(&:to_s)
    return 'webhook-id is not X-Service-Delivery' unless id == headers['x-service-delivery']
    return 'webhook-timestamp is not in Unix seconds' unless t.match?(/\A\d+\z/)
    return 'the body is empty: a GET is verified by v3 alone' if body.empty?

    content = "#{id}.#{t}.".b + body.b
    given = headers['webhook-signature'].to_s.split.select { |one| one.start_with?('v1a,') }
    unless keys.product(given).any? { |key, one| signed?(key, one.delete_prefix('v1a,'), content) }
      return 'v1a of webhook-signature does not match: the public key, webhook-id, the time or the body differs'
    end

    'the signature is too old, or this clock is wrong' if (now - t.to_i).abs > TOLERANCE
  end

  def self.signed?(key, signature, content)
    OpenSSL::PKey.read(SPKI + key[5..].unpack1('m0')).verify(nil, signature.unpack1('m0'), content)
  rescue ArgumentError, OpenSSL::PKey::PKeyError # not base64, or not of 64 bytes
    false
  end
  private_class_method :signed?
end
