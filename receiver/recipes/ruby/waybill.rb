# frozen_string_literal: true

require 'openssl'

# Verifies the deliveries of a Waybill warehouse. Ruby 2.7 or later, nothing else.
#
# Rails, for one:
#
#     def create
#       problem = Waybill.problem([SECRET], request.method, request.original_fullpath, headers_of(request), request.raw_post)
#       return render(plain: problem, status: :unauthorized) if problem
#       handle(request.headers['X-Service-Event'], JSON.parse(request.raw_post)) if new?(request.headers['X-Service-Delivery'])
#       head :no_content
#     end
#
#     def headers_of(request)
#       %w[X-Service-Signature X-Service-Delivery webhook-id webhook-timestamp webhook-signature]
#         .to_h { |name| [name, request.headers[name].to_s] }
#     end
#
# Take the body as it came (`request.raw_post`, Rack's `env['rack.input'].read`), never one that was parsed and written
# again. X-Service-Delivery is the same on every attempt: by it a repeat is recognized.
module Waybill
  TOLERANCE = 300

  # Why the request is not a delivery; nil when both signatures are good and not too old.
  #
  # secrets: all of each secret ("whsec_..."): one, or the new and the old one while a secret is being replaced
  # target:  path and query exactly as requested; only GET needs it
  # headers: a Hash, names in any case
  # body:    exactly as received; empty on GET
  # now:     Unix seconds
  def self.problem(secrets, method, target, headers, body, now = Time.now.to_i)
    headers = headers.to_h { |name, value| [name.downcase, value] }
    fields = headers.fetch('x-service-signature', '').split(',').map { |field| field.strip.split('=', 2) }
    t = fields.find { |name, _| name == 't' }&.last.to_s
    unless t.match?(/\A\d+\z/) && t == headers['webhook-timestamp']
      return 'X-Service-Signature has no valid timestamp, or it differs from webhook-timestamp'
    end

    id = headers['webhook-id'].to_s
    return 'webhook-id is missing, or differs from X-Service-Delivery' if id.empty? || id != headers['x-service-delivery']

    content = method == 'GET' ? target : body
    service = fields.select { |name, _| name == 'v1' }.map { |_, value| value.to_s }
    made = secrets.map { |secret| hmac(secret, t, content).unpack1('H*') }
    return 'X-Service-Signature does not match: the secret, body, path or query differs' unless any_equal?(made, service)

    signed = method == 'GET' ? '' : body
    given = headers.fetch('webhook-signature', '').split(' ')
    standard = given.select { |one| one.start_with?('v1,') }.map { |one| one[3..-1] }
    made = secrets.map { |secret| [hmac(secret.delete_prefix('whsec_').unpack1('m'), "#{id}.#{t}", signed)].pack('m0') }
    return 'webhook-signature does not match: the id differs' unless any_equal?(made, standard)

    'the signature is too old, or this clock is wrong' if (now - t.to_i).abs > TOLERANCE
  end

  def self.hmac(key, prefix, content)
    OpenSSL::HMAC.digest('SHA256', key, "#{prefix}.".b + content.b)
  end

  def self.any_equal?(made, given)
    made.product(given).map { |one, other| same?(one, other) }.any?
  end

  # In a time that does not tell where they differ.
  def self.same?(one, other)
    one.bytesize == other.bytesize && one.bytes.zip(other.bytes).reduce(0) { |sum, (a, b)| sum | (a ^ b) }.zero?
  end
  private_class_method :hmac, :any_equal?, :same?
end
