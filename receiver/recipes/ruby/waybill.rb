# frozen_string_literal: true

require 'openssl'

# Verifies the deliveries of a Waybill warehouse. Ruby 2.7 or later, nothing else.
#
# Rails, for one:
#
#     def create
#       secrets = SECRETS.fetch(request.headers['X-Service-Webhook'], []) # each webhook has its own
#       problem = Waybill.problem(secrets, request.method, request.original_fullpath, headers_of(request), request.raw_post)
#       return render(plain: problem, status: :unauthorized) if problem
#       handle(request.headers['X-Service-Event'], JSON.parse(request.raw_post)) if new?(request.headers['X-Service-Delivery'])
#       head :no_content
#     end
#
#     def headers_of(request)
#       %w[Signature Delivery Event-Id Event Sequence Webhook Origin Changed Test]
#         .to_h { |name| ["X-Service-#{name}", request.headers["X-Service-#{name}"].to_s] }
#     end
#
# Take the body as it came (`request.raw_post`, Rack's `env['rack.input'].read`), never one that was parsed and written
# again. X-Service-Delivery is the same on every attempt: by it a repeat is recognized.
module Waybill
  TOLERANCE = 300
  # What is signed beside the time, method, path, query and body; X-Service-Test is absent where it is no test.
  SIGNED = {
    'v3' => %w[delivery event-id event sequence webhook origin changed test],
    'v2' => %w[delivery event-id event sequence webhook test]
  }.freeze

  # A whole secret: generated ("whsec_...", its length is 4n + 2) or your own; which is no quoted text, API key or placeholder.
  GENERATED = %r{\Awhsec_[A-Za-z0-9+/]{32,86}={0,2}\z}.freeze
  OWN = /\A[!-~][ -~]{22,254}[!-~]\z/.freeze
  NOT_OWN = /^["'`]|^wb_[A-Za-z0-9_-]{43}$|[$\#%]\{[^{}]*\}|\$\([^()]*\)|\{\{.*\}\}|^<.*>$|^%.*%$|^\[.*\]$|^\$[A-Za-z_][A-Za-z0-9_]*$/.freeze

  # A mistake in your own setup, not in the request: answer 500, never 401.
  class BadSecret < ArgumentError; end

  # Raises BadSecret unless it is an Array of whole secrets. Call it at the start, too: anybody can sign with an empty one.
  def self.check_secrets(secrets)
    raise BadSecret, 'the secrets are not a list: write [secret]' unless secrets.is_a?(Array)

    whole = secrets.all? { |secret| secret.is_a?(String) && whole?(secret.b) }
    raise BadSecret, 'a secret is not set, cut off, in quotes or spaces, or a placeholder' unless whole
  end

  def self.whole?(secret)
    return secret.match?(GENERATED) && secret.bytesize % 4 == 2 if secret.start_with?('whsec_')

    secret.match?(OWN) && !secret.match?(NOT_OWN)
  end

  # Why the request is not a delivery; nil when the signature is good and not too old.
  #
  # secrets: those of the webhook that X-Service-Webhook names, all of each ("whsec_..."): one, or the new and the old one while a secret is being replaced
  # target:  path and query exactly as requested
  # headers: a Hash, names in any case
  # body:    exactly as received; empty on GET
  # now:     Unix seconds
  #
  # Raises BadSecret as check_secrets does; it is not rescued above, so that it becomes a 500.
  def self.problem(secrets, method, target, headers, body, now = Time.now.to_i)
    check_secrets(secrets)
    headers = headers.to_h { |name, value| [name.downcase, value] }
    fields = fields_of(headers)
    t = fields.find { |name, _| name == 't' }&.last.to_s
    return 'X-Service-Signature has no valid timestamp' unless t.match?(/\A\d+\z/)

    version = version_of(fields)
    lines = [t, *SIGNED[version].map { |name| headers["x-service-#{name}"].to_s }, method, target, '']
    content = lines.join("\n").b + body.b
    given = fields.select { |name, _| name == version }.map { |_, value| value.to_s }
    made = secrets.map { |secret| OpenSSL::HMAC.hexdigest('SHA256', secret, content) }
    unless any_equal?(made, given)
      return "#{version} of X-Service-Signature does not match: the secret, a header, path, query or body differs"
    end

    'the signature is too old, or this clock is wrong' if (now - t.to_i).abs > TOLERANCE
  end

  # Of a verified request: who made the change ("shop", "warehouse" or "service"), and the fields that it changed. [nil, []] where
  # there is no v3, of an older sender: v2 does not cover these headers, and anybody may have set them.
  def self.written(headers)
    headers = headers.to_h { |name, value| [name.downcase, value] }
    return [nil, []] unless version_of(fields_of(headers)) == 'v3'

    [headers['x-service-origin'], headers['x-service-changed'].to_s.split(',')]
  end

  def self.fields_of(headers)
    headers.fetch('x-service-signature', '').split(',').map { |field| field.strip.split('=', 2) }
  end

  def self.version_of(fields)
    fields.any? { |name, _| name == 'v3' } ? 'v3' : 'v2'
  end

  def self.any_equal?(made, given)
    made.product(given).map { |one, other| same?(one, other) }.any?
  end

  # In a time that does not tell where they differ.
  def self.same?(one, other)
    one.bytesize == other.bytesize && one.bytes.zip(other.bytes).reduce(0) { |sum, (a, b)| sum | (a ^ b) }.zero?
  end
  private_class_method :fields_of, :version_of, :any_equal?, :same?, :whole?
end
