#!/usr/bin/perl
# Cuts raw English or French text into words as the Moses tokeniser does in essence: punctuation apart, case kept,
# English clitics ("it 's", "don 't"), French elisions ("l' homme", "qu' il").
# What is not ASCII becomes U+FFFD in lines that are not UTF-8.
#
#     tokenize.pl en < raw > words
use strict;
use warnings;
use utf8;

my $language = shift // 'en';
my %abbreviation = map { $_ => 1 } qw(Mr Mrs Ms Dr Prof St No Art M Mme Mlle art no vs e.g i.e);
while (my $line = <STDIN>) {
    utf8::decode($line) or $line =~ s/[^\x00-\x7F]/\x{FFFD}/g;
    $line =~ tr/\r\n//d;
    $line =~ s/[\x{2018}\x{2019}\x{02BC}`]/'/g;
    $line =~ s/[\x{201C}\x{201D}\x{201E}]|''/"/g;
    $line =~ s/[\x{2013}\x{2014}]/ - /g;
    $line =~ s/\x{2026}/.../g;
    $line =~ s/([^\p{L}\p{N}\p{M}\s.,'\-])/ $1 /g;
    $line =~ s/(\.{2,})/ $1 /g;
    $line =~ s/(?<![0-9]),|,(?![0-9])/ , /g;
    if ($language eq 'fr') {
        $line =~ s/(?<=\p{L})'(?=\p{L})/' /g;
    } else {
        $line =~ s/(?<=\p{L})'(?=\p{L})/ '/g;
    }
    $line =~ s/(?<!\p{L})'|'(?![\p{L}\s])|(?<=\s)'(?=\s)/ ' /g if $language eq 'fr';
    $line =~ s/(?<!\p{L})'(?=\s)|(?<=\s)'(?!\p{L})|^'/ ' /g if $language ne 'fr';
    my @words = split ' ', $line;
    my @out;
    for my $i (0 .. $#words) {
        my $word = $words[$i];
        if ($word =~ /^(.+)\.$/ && $word !~ /^\.+$/) {
            my $stem = $1;
            my $kept = $i < $#words && ($abbreviation{$stem} || $stem =~ /^\p{Lu}$/ || $stem =~ /\p{L}\.\p{L}/);
            push @out, $kept ? $word : ($stem, '.');
        } else {
            push @out, $word;
        }
    }
    my $words = join(' ', @out) . "\n";
    utf8::encode($words);
    print $words;
}
