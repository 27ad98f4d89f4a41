# make dist writes this formula with the version and the checksum of its archive of the source.
class Mars < Formula
  desc "Label data whose class balance and looks differ from the labelled data's"
  homepage "https://mars.dev/mars"
  url "https://mars.dev/mars/releases/mars-VERSION-source.tar.gz"
  sha256 "SHA256"
  license "Apache-2.0"

  depends_on "go" => :build

  def install
    system "make", "install", "PREFIX=#{prefix}"
    system "make", "licences", "LICENCES=#{doc}/THIRD-PARTY-LICENSES"
    doc.install "docs"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/mars --version")
    system bin/"mars", "featurize", "toy", "--quiet", "--shift", "8", "-o", "toy.arrow"
    system bin/"mars-label", "--quiet", "toy.arrow", "-o", "labels.csv"
    assert_equal "id,predicted_class,confidence", (testpath/"labels.csv").read[/\A\w+,\w+,\w+/]
    assert_path_exists man1/"mars-label.1"
  end
end
